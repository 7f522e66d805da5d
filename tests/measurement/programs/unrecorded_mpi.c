/* What an MPI library to come may have, for unrecorded.c. */
#include <mpi.h>

int MPI_Kojak_future(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
int MPI_Kojak_uncalled(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
