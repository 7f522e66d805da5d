/* Nanoseconds of CPU time per MPI call, for kinds of calls whose cost under measurement matters.
 *
 * Usage: measurement_cost CALLS, with 2 processes. Rank 0 calls, rank 1 sleeps meanwhile so that it takes
 * no processor away. Each kind is timed in pieces; the median piece is printed as `name nanoseconds`. Run with and
 * without the measurement library; measurement_cost.py does and prints the differences.
 */
#include <mpi.h>
#include <unistd.h>

#include "pieces.h"

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* memory;
  MPI_Win win;
  MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    double value = 1;
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    MPI_Request never;
    int flag;
    MPI_Irecv(&value, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, &never);
    MEASURE("put", MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win), MPI_Win_flush(1, win));
    MEASURE("get", MPI_Get(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win), MPI_Win_flush(1, win));
    MEASURE("test", MPI_Test(&never, &flag, MPI_STATUS_IGNORE), (void)0);
    MEASURE("iprobe", MPI_Iprobe(0, 98, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), (void)0);
    MEASURE("rput_wait",
            MPI_Rput(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Win_flush(1, win));
    MEASURE("comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &flag), (void)0);
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
    double out = 2, in;
    MEASURE("isend_recv_wait",
            MPI_Isend(&out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &request);
            MPI_Recv(&in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE), (void)0);
    MPI_Win_unlock_all(win);
    MPI_Send(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    int done = 0;
    while (!done) {
      usleep(20000);
      MPI_Iprobe(0, 7, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    double value;
    MPI_Recv(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
