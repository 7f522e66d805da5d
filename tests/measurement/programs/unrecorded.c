/* A program that calls functions which no wrapper takes: one of an MPI to come (unrecorded_mpi.c stands in for its
 * library), and one by its profiling name. MPI_Aint_add only computes, and MPI_Barrier is recorded. */
#include <mpi.h>
#include <stdio.h>

int MPI_Kojak_future(MPI_Comm comm);
int MPI_Kojak_uncalled(MPI_Comm comm);

int main(int argc, char** argv) {
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Kojak_future(MPI_COMM_WORLD);
  PMPI_Allreduce(MPI_IN_PLACE, &me, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("sum %d, %d\n", me, MPI_Aint_add(1, 1) == 2);
  if (me < 0) MPI_Kojak_uncalled(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
