/* A library between that counts calls by C's name and by Fortran's. */
#include <mpi.h>
#include <stdio.h>

void pmpi_barrier_(void* comm, void* error);
void pmpi_finalize_(void* error);

static int in_c, in_fortran;

int MPI_Barrier(MPI_Comm comm) {
  ++in_c;
  return PMPI_Barrier(comm);
}
void mpi_barrier_(void* comm, void* error);
void mpi_barrier_(void* comm, void* error) {
  ++in_fortran;
  pmpi_barrier_(comm, error);
}
void mpi_finalize_(void* error);
void mpi_finalize_(void* error) {
  printf("counted: %d %d\n", in_c, in_fortran);
  fflush(stdout);
  pmpi_finalize_(error);
}
