/* Flushes and unlocks with nothing issued: some implementations ask the target all the same, and
 * wait for one that computes; others return at once, and nothing may be claimed. */
#include <stdio.h>

#include "truth.h"

enum { kOne, kAll, kUnlock, kOneDone, kAllDone, kUnlockDone };

/* Computes, and then makes the calls that let the others go on. */
static void compute_and_serve(int begun, int done, int ms) {
  hear(begun, 1);
  pause_ms(ms);
  while (!told(done, 1)) {
    int flag;
    TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d", rank);
    pause_ms(1);
  }
}

int main(int argc, char** argv) {
  int memory[8] = {0};
  MPI_Win win;
  truth_begin(&argc, &argv, 3);
  TIMED(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0 all_noted=1");

  /* A flush of one target. (All are in MPI while the locks are asked for.) */
  if (rank == 0) TIMED(MPI_Win_lock_all(0, win), "win=0");
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=0");
  meet();
  if (rank == 0) {
    tell(kOne);
    TIMED(MPI_Win_flush(1, win), "win=0 flush=1");
    tell(kOneDone);
  } else if (rank == 1) {
    compute_and_serve(kOne, kOneDone, kLateMs);
  } else {
    compute_and_serve(kOne, kOneDone, 0);
  }
  /* Of all, who come back at different times. */
  meet();
  if (rank == 0) {
    tell(kAll);
    TIMED(MPI_Win_flush_all(win), "win=0");
    tell(kAllDone);
  } else {
    compute_and_serve(kAll, kAllDone, rank * kLateMs);
  }
  /* All are inside: nobody waits for long. Then the unlock. */
  if (rank == 0) TIMED(MPI_Win_flush_all(win), "win=0");
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=0");
  meet();
  if (rank == 0) {
    tell(kUnlock);
    TIMED(MPI_Win_unlock_all(win), "win=0");
    tell(kUnlockDone);
  } else {
    compute_and_serve(kUnlock, kUnlockDone, kLateMs);
  }
  TIMED(MPI_Win_free(&win), "win=0");
  if (rank == 0 && osc_is("pt2pt")) {
    at_least("mpi_rma_sync_wait_for_progress", "MPI_Win_flush", 0, SURELY(kLateMs));
    at_least("mpi_rma_sync_wait_for_progress", "MPI_Win_flush_all", 0, SURELY(2 * kLateMs));
  }
  if (rank == 0 && osc_is("rdma")) exactly_zero("mpi_rma_sync_wait_for_progress", "*", 0);
  truth_end();
  return 0;
}
