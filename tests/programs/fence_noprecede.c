/* A fence that opens an epoch only (MPI_MODE_NOPRECEDE) may return early: what happened after it
 * had ended did not block it. */
#include "truth.h"

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  const int left = (rank + ranks - 1) % ranks;
  for (int late = 0; late < ranks; ++late) {
    come_late(AT(late));
    TIMED(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), "win=0 noprecede=1");
    TIMED(MPI_Put(&value, 1, MPI_INT, left, late, 1, MPI_INT, win), "win=0 to=%d bytes_put=4",
          left);
    TIMED(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), "win=0");
  }
  TIMED(MPI_Win_free(&win), "win=0");
  /* Wherever the library lets them wait, in this fence or in the next, it is a wait at a fence. */
  if (rank == 0)
    for (int r = 0; r < ranks; ++r)
      at_least("mpi_rma_fence_wait", "MPI_Win_fence", r, (ranks - 1) * SURELY(kLateMs));
  truth_end();
  return 0;
}
