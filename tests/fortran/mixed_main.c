/* A C main program: it initialises and ends MPI, and calls Fortran in between, also under the names that other
   Fortran compilers give to MPI_BARRIER. */
#include "mixed.h"

/* MPICH has all four before version 4.1, and since then the one of the Fortran compiler that it was built with. */
void mpi_barrier_(MPI_Fint *comm, MPI_Fint *error);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40100000
#define BARRIERS mpi_barrier_
#else
#define BARRIERS mpi_barrier, mpi_barrier_, mpi_barrier__, MPI_BARRIER
void mpi_barrier(MPI_Fint *comm, MPI_Fint *error);
void mpi_barrier__(MPI_Fint *comm, MPI_Fint *error);
void MPI_BARRIER(MPI_Fint *comm, MPI_Fint *error);
#endif

static void every_spelling(MPI_Fint comm) {
  void (*const barriers[])(MPI_Fint *, MPI_Fint *) = {BARRIERS};
  unsigned i;
  for (i = 0; i < sizeof barriers / sizeof barriers[0]; ++i) {
    MPI_Fint error = -1;
    barriers[i](&comm, &error);
    MADE(MPI_Barrier);
    collective_in_c(-1, 0, 0);
    result_in_c(error);
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  open_notes(rank);
  MADE(MPI_Init);
  MADE(MPI_Comm_rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MADE(MPI_Comm_dup);
  fortran_part(rank, MPI_Comm_c2f(comm));
  c_part(rank, MPI_Comm_c2f(comm));
  fortran_part(rank, MPI_Comm_c2f(comm));
  every_spelling(MPI_Comm_c2f(comm));
  MPI_Comm_free(&comm);
  MADE(MPI_Comm_free);
  MPI_Finalize();
  MADE(MPI_Finalize);
  close_notes();
  return 0;
}
