/* A C main program: it initialises and ends MPI, and calls Fortran in between. */
#include "mixed.h"

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
  MPI_Comm_free(&comm);
  MADE(MPI_Comm_free);
  MPI_Finalize();
  MADE(MPI_Finalize);
  close_notes();
  return 0;
}
