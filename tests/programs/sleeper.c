/* Three processes lock a fourth that computes outside MPI for half a second. Where the lock or its
 * release needs the target, all three wait for it: 1.5 s of Wait for Progress, and next to nothing
 * for each other, since nobody can hold a lock that the target has not granted. Where it needs no
 * target, nobody waits. */
#include <stdlib.h>

#include "truth.h"

enum { kSleepMs = 500, kTarget = 3 };
enum { kAsked, kDone };

int main(int argc, char** argv) {
  int memory = 0, value = 1;
  MPI_Win win;
  truth_begin(&argc, &argv, 4);
  TIMED(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0 all_noted=1");
  meet();
  if (rank != kTarget) {
    tell(kAsked);
    TIMED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, win), "win=0 lock=%d exclusive=1", kTarget);
    TIMED(MPI_Put(&value, 1, MPI_INT, kTarget, 0, 1, MPI_INT, win), "win=0 to=%d bytes_put=%zu",
          kTarget, sizeof value);
    TIMED(MPI_Win_unlock(kTarget, win), "win=0 unlock=%d", kTarget);
    tell(kDone);
  } else {
    hear(kAsked, 3);
    pause_ms(kSleepMs);
    while (!told(kDone, 3)) {
      int flag;
      TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d",
            rank);
    }
  }
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  if (rank == 0) {
    for (int r = 0; r < kTarget; ++r) {
      /* Osc rdma needs no target on one node. */
      if (!osc_is("rdma"))
        at_least("mpi_rma_comm_wait_for_progress+mpi_rma_sync_wait_for_progress", "*", r,
                 SURELY(kSleepMs));
      at_most("mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention", "*", r,
              0.25e-3 * kSleepMs);
    }
  }
  truth_end();
  return 0;
}
