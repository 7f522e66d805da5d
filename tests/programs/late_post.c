/* Late Post with one target and with all, of which the last decides, and Before First Post.
 * Depending on the library MPI_Win_start waits, MPI_Win_complete, or both. */
#include "truth.h"

enum { kStarting1, kStarting2, kPosted };

static int memory[64];
static int value = 1;
static MPI_Win win;

static void access_epoch(Members targets, int first, int last, int early_at) {
  tell(early_at);
  TIMED(MPI_Win_start(targets.group, 0, win), "win=0 group=%s", targets.list);
  for (int target = first; target <= last; ++target)
    TIMED(MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win), "win=0 to=%d bytes_put=4",
          target);
  TIMED(MPI_Win_complete(win), "win=0");
}

static void post(Members origins, int assertion) {
  TIMED(MPI_Win_post(origins.group, assertion, win), "win=0 group=%s", origins.list);
}

static void wait_epoch(void) {
  TIMED(MPI_Win_wait(win), "win=0");
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  Members origin = members_of(AT(0));
  Members one = members_of(AT(1));
  Members all = members_of(((1u << ranks) - 1) & ~AT(0));

  /* One target, late. */
  meet();
  if (rank == 0) {
    access_epoch(one, 1, 1, kStarting1);
  } else if (rank == 1) {
    hear_late(kStarting1, 1);
    post(origin, 0);
    wait_epoch();
  }

  /* All are late, each later than the one before it. */
  meet();
  if (rank == 0) {
    access_epoch(all, 1, ranks - 1, kStarting2);
  } else {
    hear_late(kStarting2, rank);
    tell(kStarting2);
    post(origin, 0);
    wait_epoch();
  }

  /* All targets have posted long ago: no wait. */
  meet();
  if (rank == 0) {
    hear_late(kPosted, ranks - 1);
    TIMED(MPI_Win_start(all.group, MPI_MODE_NOCHECK, win), "win=0 group=%s", all.list);
    TIMED(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), "win=0 to=1 bytes_put=4");
    TIMED(MPI_Win_complete(win), "win=0");
  } else {
    post(origin, MPI_MODE_NOCHECK);
    tell(kPosted);
    wait_epoch();
  }

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&origin);
  members_free(&one);
  members_free(&all);
  if (rank == 0) {
    /* 60 ms with one target; 60 ms for each with all, of which the first lie before the first post.
     */
    at_least("mpi_rma_latepost", "*", 0, ranks * SURELY(kLateMs));
    at_least("mpi_rma_latepost_first", "*", 0, 2 * SURELY(kLateMs));
    if (osc_is("rdma")) at_least("mpi_rma_latepost", "MPI_Win_start", 0, ranks * SURELY(kLateMs));
    if (osc_is("pt2pt"))
      at_least("mpi_rma_latepost", "MPI_Win_complete", 0, ranks * SURELY(kLateMs));
    for (int r = 1; r < ranks; ++r) exactly_zero("mpi_rma_latepost", "*", r);
  }
  truth_end();
  return 0;
}
