/* A C library that is given a communicator by Fortran: messages, a broadcast, and a communicator of its own. */
#include "mixed.h"

void c_part(int rank, MPI_Fint fortran_comm) {
  const MPI_Comm comm = MPI_Comm_f2c(fortran_comm);
  const int other = 1 - rank;
  int mine = 10 + rank, theirs = -1;
  MPI_Comm own;
  MPI_Sendrecv(&mine, 1, MPI_INT, other, 31, &theirs, 1, MPI_INT, other, 31, comm, MPI_STATUS_IGNORE);
  MADE(MPI_Sendrecv);
  sent_in_c(other, 31, 4);
  received_in_c(other, 31, 4);
  result_in_c(theirs);
  MPI_Comm_dup(comm, &own);
  MADE(MPI_Comm_dup);
  MPI_Bcast(&mine, 1, MPI_INT, 1, own);
  MADE(MPI_Bcast);
  collective_in_c(1, rank == 1 ? 4 : 0, rank == 1 ? 0 : 4);
  result_in_c(mine);
  MPI_Comm_free(&own);
  MADE(MPI_Comm_free);
}
