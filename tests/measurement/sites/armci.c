/* ARMCI on MPI (ARMCI-MPI): process 0 comes late to what makes the others wait. Comments:
 *   through: FUNCTION OPERATION MPI_FUNCTION   this line of FUNCTION calls the library, whose OPERATION calls MPI
 *   waits: METRIC                              so long does the report say that the others waited in this function
 * Each process prints "process RANK FUNCTION SECONDS", how long it was in that call. run_libraries.py reads it all.
 */
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OWN_FUNCTION __attribute__((noinline))

static int rank, size;
static void** memory;

static void late(void) {
  if (rank == 0) usleep(300000);
}

static void tell(const char* name, double began) {
  printf("process %d %s %.6f\n", rank, name, MPI_Wtime() - began);
}

OWN_FUNCTION static void meet(void) { /* waits: mpi_barrier_wait */
  late();
  const double began = MPI_Wtime();
  ARMCI_Barrier(); /* through: meet ARMCI_Barrier MPI_Barrier */
  tell("meet", began);
}

OWN_FUNCTION static void add(void) {
  double values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, scale = 2;
  const int next = (rank + 1) % size;
  ARMCI_Put(values, memory[next], sizeof values, next); /* through: add ARMCI_Put MPI_Accumulate */
  ARMCI_Barrier(); /* through: add ARMCI_Barrier MPI_Barrier */
  const int sum = ARMCI_ACC_DBL;
  ARMCI_Acc(sum, &scale, values, memory[next], sizeof values, next); /* through: add ARMCI_Acc MPI_Accumulate */
  ARMCI_Barrier(); /* through: add ARMCI_Barrier MPI_Barrier */
  ARMCI_Get(memory[next], values, sizeof values, next); /* through: add ARMCI_Get MPI_Get_accumulate */
  ARMCI_Barrier(); /* through: add ARMCI_Barrier MPI_Barrier */
  printf("process %d has %g\n", rank, values[7]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv); /* site: main MPI_Init */
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memory = malloc(sizeof(void*) * (size_t)size);
  ARMCI_Malloc(memory, 4096);
  meet();
  add();
  ARMCI_Free(memory[rank]);
  free(memory);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
