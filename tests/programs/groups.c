/* Groups that change from epoch to epoch and overlap: the n-th access epoch of an origin at a
 * target belongs to the n-th exposure epoch of that target to this origin, so every pair counts by
 * itself. One complete ends several exposure epochs at once. */
#include "truth.h"

enum { kWaitingA, kStartingB, kWaitingC, kWaitingD };

static int memory[64];
static int value;
static MPI_Win win;

static void post(unsigned set) {
  Members origins = members_of(set);
  TIMED(MPI_Win_post(origins.group, 0, win), "win=0 group=%s", origins.list);
  members_free(&origins);
}

static void wait_epoch(void) {
  TIMED(MPI_Win_wait(win), "win=0");
}

static void start(unsigned set) {
  Members targets = members_of(set);
  TIMED(MPI_Win_start(targets.group, 0, win), "win=0 group=%s", targets.list);
  members_free(&targets);
}

static void put(int to) {
  TIMED(MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win), "win=0 to=%d bytes_put=4", to);
}

static void complete(void) {
  TIMED(MPI_Win_complete(win), "win=0");
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");

  meet(); /* A: 3 accesses 0 and 1, both of which wait for its one complete */
  if (rank < 2) {
    post(AT(3));
    tell(kWaitingA);
    wait_epoch();
  } else if (rank == 3) {
    start(AT(0) | AT(1));
    put(0);
    put(1);
    hear_late(kWaitingA, 2);
    complete();
  }

  meet(); /* B: 0 exposes itself to 2 and 3, late for both */
  if (rank == 0) {
    hear_late(kStartingB, 2);
    post(AT(2) | AT(3));
    wait_epoch();
  } else if (rank >= 2) {
    tell(kStartingB);
    start(AT(0));
    if (rank == 2) put(0);
    complete();
  }

  meet(); /* C: only 2 accesses 0 and 1; the first epoch of the pair (2, 1), the second of (2, 0) */
  if (rank < 2) {
    post(AT(2));
    tell(kWaitingC);
    wait_epoch();
  } else if (rank == 2) {
    start(AT(0) | AT(1));
    put(1);
    hear_late(kWaitingC, 2);
    complete();
  }

  meet(); /* D: 2 and 3 access 0 and 1 crosswise; an empty group in between counts for nobody */
  if (rank < 2) {
    post(AT(2) | AT(3));
    tell(kWaitingD);
    wait_epoch();
  } else {
    start(0);
    complete();
    start(AT(0) | AT(1));
    put(rank - 2);
    if (rank == 3) hear_late(kWaitingD, 2);
    complete();
  }

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  if (rank == 0) {
    at_least("mpi_rma_earlywait", "MPI_Win_wait", 0, 3 * SURELY(kLateMs));
    at_least("mpi_rma_earlywait", "MPI_Win_wait", 1, 3 * SURELY(kLateMs));
    at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 0, SURELY(kLateMs));
    at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 1, 2 * SURELY(kLateMs));
    at_least("mpi_rma_latepost", "*", 2, SURELY(kLateMs));
    at_least("mpi_rma_latepost", "*", 3, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
