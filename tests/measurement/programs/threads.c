/* Four threads of each process call at once (MPI_THREAD_MULTIPLE): messages on a communicator of their own, puts
 * into one window. Then come threads that make one call each, one after the other; and some that are alive at the
 * same time, of which two call more often than a small buffer, and a whole one, can hold. Each thread has a trace of
 * its own; the test counts what all threads recorded. With an argument, rank 0 kills itself while they are alive. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 200, kTasks = 100, kAlive = 20 };

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

static pthread_barrier_t all_called, all_end;

static void* task(void* argument) {
  const int calls = *(const int*)argument;
  int flag;
  for (int i = 0; i < calls; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return NULL;
}
static void* live_task(void* argument) {
  task(argument);
  pthread_barrier_wait(&all_called);
  pthread_barrier_wait(&all_end);
  return NULL;
}

static void run_tasks(int dies) {
  static const int once = 1, more = 2000, most = 12000;
  pthread_t threads[kAlive];
  for (int i = 0; i < kTasks; ++i) {
    pthread_create(&threads[0], NULL, task, (void*)&once);
    pthread_join(threads[0], NULL);
  }
  pthread_barrier_init(&all_called, NULL, kAlive + 1);
  pthread_barrier_init(&all_end, NULL, kAlive + 1);
  for (int i = 0; i < kAlive; ++i) {
    pthread_create(&threads[i], NULL, live_task, (void*)(i == 0 ? &more : i == 1 ? &most : &once));
  }
  pthread_barrier_wait(&all_called);
  if (dies) kill(getpid(), SIGKILL);
  pthread_barrier_wait(&all_end);
  for (int i = 0; i < kAlive; ++i) pthread_join(threads[i], NULL);
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
  run_tasks(argc > 1 && me == 0);
  MPI_Win_unlock_all(win);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Win_free(&win);
  MPI_Finalize();
  printf("rank %d done\n", me);
  return 0;
}
