/* A program on a library that keeps a process for itself (serving_armci.c). Argument: "serve"; "alone", where the library
 * keeps nobody; "end", where it keeps nobody and ends MPI for all, after a message to oneself; "jump", as "serve", by a
 * function of the program that ends by jumping into the library; "loop", where it keeps nobody and is called at one place,
 * with computing in between, and exchanges a message there each time. */
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

__attribute__((noinline)) void begin(int keeps) {
  ARMCI_Init(keeps); /* the last thing it does */
}

int main(int argc, char** argv) {
  int rank;
  const char* const mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(mode, "jump") == 0) {
    begin(1);
  } else {
    ARMCI_Init(strcmp(mode, "serve") == 0);
  }
  for (int i = 0; strcmp(mode, "loop") == 0 && i < 5; ++i) {
    compute(0.02);
    ARMCI_Finalize(2);
  }
  if (rank == 1) compute(0.3);
  ARMCI_Barrier();
  ARMCI_Get(100);
  ARMCI_Barrier();
  compute(0.2);
  ARMCI_Finalize(strcmp(mode, "end") == 0);
  if (strcmp(mode, "end") != 0) MPI_Finalize();
  return 0;
}
