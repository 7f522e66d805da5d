/* What timelines of the EARL manual are traces of (docs/earl.md). Process 1 posts two receives,
   the first from anybody, and both get messages of process 0; then processes 1 and 2 lock the
   window of process 0 exclusively. Three processes. */
#include <mpi.h>
#include <unistd.h>

enum { kMillisecond = 1000 };

static void messages(int rank) {
  int data[2] = {1, 2};
  MPI_Request requests[2];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
    usleep(5 * kMillisecond);
    MPI_Irecv(&data[1], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[1]);
    usleep(5 * kMillisecond);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    usleep(5 * kMillisecond);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    usleep(15 * kMillisecond);
    MPI_Send(&data[0], 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    usleep(10 * kMillisecond);
    MPI_Send(&data[1], 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void locks(int rank, MPI_Win window) {
  const int mine = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    usleep((unsigned)(2 * rank - 1) * 5 * kMillisecond);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&mine, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    usleep(20 * kMillisecond);
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, memory = 0;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  messages(rank);
  locks(rank, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
