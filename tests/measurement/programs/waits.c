/* Five waits of 0.2 s each: process 0 comes late to the creation of a window, with large counts; and it gives the last
 * part of a partitioned message to process 1 late. Every process prints how long it was in those calls, how many bytes
 * it put, and how long it waited for parts. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int me, ranks;
  double inside = 0;
  const double out[4] = {1, 2, 3, 4};
  double parts[8] = {0}, for_parts = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 5; ++i) {
    double* memory;
    MPI_Win win;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) usleep(200000);
    const double entered = MPI_Wtime();
    MPI_Win_allocate_c(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    inside += MPI_Wtime() - entered;
    MPI_Win_fence(0, win);
    MPI_Put_c(out, 4, MPI_DOUBLE, (me + 1) % ranks, 0, 4, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
  if (me == 0) MPI_Psend_init(parts, 2, 4, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (me == 1) MPI_Precv_init(parts, 4, 2, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 5 && me < 2; ++i) {
    MPI_Start(&request);
    if (me == 0) {
      MPI_Pready(1, request);
      usleep(200000);
      MPI_Pready(0, request);
    }
    const double entered = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 1) for_parts += MPI_Wtime() - entered;
  }
  if (me < 2) MPI_Request_free(&request);
  printf("rank %d inside %.6f put %d parts %.6f\n", me, inside, 5 * 32, for_parts);
  MPI_Finalize();
  return 0;
}
