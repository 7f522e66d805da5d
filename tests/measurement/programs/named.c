/* The least that there is to record. With an argument the first process is late by so many
 * milliseconds, and each one prints how long it was in the barrier: "process RANK SECONDS". With
 * "kill" behind it the last one then kills itself. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && rank == 0) usleep((unsigned)atoi(argv[1]) * 1000);
  const double began = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) {
    printf("process %d %.6f\n", rank, MPI_Wtime() - began);
    fflush(stdout);
  }
  if (argc > 2 && rank == size - 1) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}
