/* Global Arrays on ARMCI-MPI: process 0 comes late to what makes the others wait. Comments as in armci.c. A
 * function that ends with the call of another (GA_Sync) is not on the stack: the operation is the one that was called. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define OWN_FUNCTION __attribute__((noinline))

static int rank, size;

static void late(void) {
  if (rank == 0) usleep(300000);
}

static void tell(const char* name, double began) {
  printf("process %d %s %.6f\n", rank, name, MPI_Wtime() - began);
}

OWN_FUNCTION static void meet(void) { /* waits: mpi_barrier_wait */
  late();
  const double began = MPI_Wtime();
  GA_Sync(); /* through: meet GA_Sync MPI_Barrier */
  tell("meet", began);
}

OWN_FUNCTION static void total(void) { /* waits: mpi_wait_nxn */
  char plus[] = "+";
  double sum = rank;
  late();
  const double began = MPI_Wtime();
  GA_Dgop(&sum, 1, plus); /* through: total GA_Dgop MPI_Allreduce */
  tell("total", began);
}

OWN_FUNCTION static void add(int array) {
  double values[4] = {1, 2, 3, 4}, scale = 2;
  const int next = (rank + 1) % size;
  int low[1], high[1], stride[1] = {4};
  NGA_Distribution(array, next, low, high);
  high[0] = low[0] + 3;
  NGA_Put(array, low, high, values, stride); /* through: add NGA_Put MPI_Accumulate */
  GA_Sync(); /* through: add GA_Sync MPI_Barrier */
  NGA_Acc(array, low, high, values, stride, &scale); /* through: add NGA_Acc MPI_Accumulate */
  GA_Sync(); /* through: add GA_Sync MPI_Barrier */
  NGA_Get(array, low, high, values, stride); /* through: add NGA_Get MPI_Get_accumulate */
  GA_Sync(); /* through: add GA_Sync MPI_Barrier */
  printf("process %d has %g\n", rank, values[3]);
}

int main(int argc, char** argv) {
  int dimensions[1] = {400};
  char name[] = "numbers";
  MPI_Init(&argc, &argv); /* site: main MPI_Init */
  GA_Initialize();
  MA_init(C_DBL, 10000, 10000);
  rank = GA_Nodeid();
  size = GA_Nnodes();
  const int array = NGA_Create(C_DBL, 1, dimensions, name, NULL);
  meet();
  total();
  add(array);
  GA_Destroy(array);
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
