/* Wait for progress: targets compute outside MPI while an origin moves large data. Some
 * implementations wait for the target's next call that can make progress, others need none; then
 * nothing may be claimed. */
#include <stdlib.h>

#include "truth.h"

enum { kCount = 1 << 21 /* 8 MB */ };
enum { kIssued, kIssuedAll, kPosted, kDone, kDoneAll };

static int* memory;
static int* local;
static MPI_Win win;

static void put(int to) {
  TIMED(MPI_Put(local, kCount, MPI_INT, to, 0, kCount, MPI_INT, win), "win=0 to=%d bytes_put=%zu",
        to, (size_t)kCount * sizeof(int));
}
/* Computes, as far as MPI can tell: MPI_Comm_rank makes no progress. */
static void compute(int ms) {
  int mine;
  pause_ms(ms / 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  pause_ms(ms - ms / 2);
}
static void serve(int event) {
  while (!told(event, 1)) {
    int flag;
    TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d", rank);
    pause_ms(1);
  }
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  const size_t bytes = kCount * sizeof(int);
  memory = calloc(kCount, sizeof(int));
  local = calloc(kCount, sizeof(int));
  if (memory == NULL || local == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  TIMED(MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0 all_noted=1");

  /* Passive target: a large put and its flush, to a target that computes. */
  meet();
  if (rank == 0) {
    tell(kIssued); /* before the lock, which itself may need the target */
    TIMED(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), "win=0 lock=1 exclusive=0");
    put(1);
    TIMED(MPI_Win_flush(1, win), "win=0 flush=1");
    TIMED(MPI_Win_unlock(1, win), "win=0 unlock=1");
    tell(kDone);
  } else if (rank == 1) {
    hear(kIssued, 1);
    compute(kLateMs);
    serve(kDone);
  }

  /* flush_all towards all the others, which come back at different times. */
  meet();
  if (rank == 0) {
    tell(kIssuedAll);
    TIMED(MPI_Win_lock_all(0, win), "win=0");
    for (int to = 1; to < ranks; ++to) put(to);
    TIMED(MPI_Win_flush_all(win), "win=0");
    TIMED(MPI_Win_unlock_all(win), "win=0");
    tell(kDoneAll);
  } else {
    hear(kIssuedAll, 1);
    compute(rank * kLateMs);
    serve(kDoneAll);
  }

  /* General active target: the target posts, computes, and waits. */
  meet();
  if (rank == 0) {
    Members targets = members_of(AT(1));
    hear(kPosted, 1);
    TIMED(MPI_Win_start(targets.group, 0, win), "win=0 group=%s", targets.list);
    put(1);
    TIMED(MPI_Win_complete(win), "win=0");
    members_free(&targets);
  } else if (rank == 1) {
    Members origins = members_of(AT(0));
    TIMED(MPI_Win_post(origins.group, 0, win), "win=0 group=%s", origins.list);
    tell(kPosted);
    compute(kLateMs);
    TIMED(MPI_Win_wait(win), "win=0");
    members_free(&origins);
  }

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  free(memory);
  free(local);
  if (rank == 0 && osc_is("pt2pt")) {
    /* Up to the first call of the target each time; of several up to the last one's. */
    at_least("mpi_rma_comm_wait_for_progress+mpi_rma_sync_wait_for_progress", "*", 0,
             ranks * SURELY(kLateMs));
    at_least("mpi_rma_comm_wait_for_progress+mpi_rma_gat_wait_for_progress", "*", 0,
             SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
