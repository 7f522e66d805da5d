/* Another measurement tool that keeps MPI_Init to itself: it calls PMPI. */
#include <mpi.h>

int MPI_Init(int* argc, char*** argv) {
  return PMPI_Init(argc, argv);
}
