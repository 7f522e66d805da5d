/* How long MPI_Init and MPI_Finalize take together, by a clock of the program: printed by rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  int rank;
  const double a = now();
  MPI_Init(&argc, &argv);
  const double b = now();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double c = now();
  MPI_Finalize();
  const double d = now();
  if (rank == 0) printf("%.1f %.1f ms\n", (b - a) * 1e3, (d - c) * 1e3);
  return 0;
}
