/* Five waits of 0.2 s: process 0 comes late to the creation of a window, with large counts. Every process prints how
 * long it was in those calls, and how many bytes it put. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int me, ranks;
  double inside = 0;
  const double out[4] = {1, 2, 3, 4};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 5; ++i) {
    double* memory;
    MPI_Win win;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) usleep(200000);
    const double entered = MPI_Wtime();
    MPI_Win_allocate_c(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    inside += MPI_Wtime() - entered;
    MPI_Win_fence(0, win);
    MPI_Put_c(out, 4, MPI_DOUBLE, (me + 1) % ranks, 0, 4, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
  printf("rank %d inside %.6f put %d\n", me, inside, 5 * 32);
  MPI_Finalize();
  return 0;
}
