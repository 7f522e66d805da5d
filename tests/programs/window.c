/* Wait at Create and Wait at Free: each process in turn comes late to both. */
#include "truth.h"

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  static int memory[4][64];
  for (int late = 0; late < ranks; ++late) {
    MPI_Win win;
    come_late(AT(late));
    TIMED(MPI_Win_create(memory[late], sizeof memory[late], sizeof(int), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win),
          "win=%d", late);
    come_late(AT((late + 1) % ranks));
    TIMED(MPI_Win_free(&win), "win=%d", late);
  }
  if (rank == 0) {
    for (int r = 0; r < ranks; ++r) {
      at_least("mpi_rma_wait_window_create", "MPI_Win_create", r, (ranks - 1) * SURELY(kLateMs));
      at_least("mpi_rma_wait_window_free", "MPI_Win_free", r, (ranks - 1) * SURELY(kLateMs));
    }
  }
  truth_end();
  return 0;
}
