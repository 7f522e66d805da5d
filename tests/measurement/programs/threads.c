/* Four threads of each process call at once (MPI_THREAD_MULTIPLE): messages on a communicator of their own, puts
 * into one window. Each thread has a trace of its own; the test counts what all threads recorded. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 200 };

static int me, ranks;
static MPI_Comm comms[kThreads];
static MPI_Win win;

static void* work(void* argument) {
  const int thread = *(const int*)argument;
  const int next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  double in, out = thread;
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request request[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, previous, i, comms[thread], &request[0]);
    MPI_Isend(&out, 1, MPI_DOUBLE, next, i, comms[thread], &request[1]);
    if (thread % 2 == 0) {
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    } else {  /* the other threads get the handle of the first before this one is through with it */
      int index;
      MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    }
    MPI_Put(&out, 1, MPI_DOUBLE, next, thread, 1, MPI_DOUBLE, win);
    if (in != thread) printf("wrong message\n");
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, numbers[kThreads];
  pthread_t threads[kThreads];
  double* memory;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    printf("no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_allocate(kThreads * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Win_unlock_all(win);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Win_free(&win);
  MPI_Finalize();
  printf("rank %d done\n", me);
  return 0;
}
