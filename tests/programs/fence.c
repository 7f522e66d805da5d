/* Wait at Fence: each process in turn comes late to a fence that closes an epoch with transfers. */
#include "truth.h"

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  TIMED(MPI_Win_fence(0, win), "win=0");
  const int right = (rank + 1) % ranks;
  for (int late = 0; late < ranks; ++late) {
    TIMED(MPI_Put(&value, 1, MPI_INT, right, late, 1, MPI_INT, win), "win=0 to=%d bytes_put=4",
          right);
    come_late(AT(late));
    TIMED(MPI_Win_fence(0, win), "win=0");
  }
  TIMED(MPI_Win_free(&win), "win=0");
  if (rank == 0)
    for (int r = 0; r < ranks; ++r)
      at_least("mpi_rma_fence_wait", "MPI_Win_fence", r, (ranks - 1) * SURELY(kLateMs));
  truth_end();
  return 0;
}
