/* A program on a library that keeps a process for itself (serving_armci.c). Argument: "serve"; "alone", where the library
 * keeps nobody; "end", where it keeps nobody and ends MPI for all, after a message to oneself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

void ARMCI_Init(int keeps);
void ARMCI_Barrier(void);
void ARMCI_Get(int ms);
void ARMCI_Finalize(int ends_mpi);

static void compute(double s) {
  for (double end = MPI_Wtime() + s; MPI_Wtime() < end;) continue;
}

int main(int argc, char** argv) {
  int rank;
  const char* const mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ARMCI_Init(strcmp(mode, "serve") == 0);
  if (rank == 1) compute(0.3);
  ARMCI_Barrier();
  ARMCI_Get(100);
  ARMCI_Barrier();
  compute(0.2);
  ARMCI_Finalize(strcmp(mode, "end") == 0);
  if (strcmp(mode, "end") != 0) MPI_Finalize();
  return 0;
}
