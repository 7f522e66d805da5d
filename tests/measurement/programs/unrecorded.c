/* A program that refers to functions which no wrapper takes: those of an MPI to come
 * (unrecorded_mpi.c stands in for its library), and some by their profiling names. MPI_Aint_add
 * only computes, and MPI_Barrier is recorded. The argument says which of them are called. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int MPI_Kojak_future(MPI_Comm comm);
int MPI_Kojak_uncalled(MPI_Comm comm);

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int me, size, sum = 1, *memory;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "future") == 0) MPI_Kojak_future(MPI_COMM_WORLD);
  if (strcmp(what, "coll") == 0)
    PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(what, "rma") == 0) PMPI_Win_fence(0, window);
  if (strcmp(what, "p2p") == 0 && me == 0) {
    for (int other = 1; other < size; ++other)
      PMPI_Send(&sum, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  } else if (strcmp(what, "p2p") == 0) {
    PMPI_Recv(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("sum %d, %d\n", sum, MPI_Aint_add(1, 1) == 2);
  if (me < 0) MPI_Kojak_uncalled(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
