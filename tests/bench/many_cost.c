/* Nanoseconds of CPU time where a program has much of something: requests in an array of which a call completes one,
 * and threads that make one call each.
 *
 * Usage: many_cost, with 2 processes. Prints `name nanoseconds` as measurement_cost.c does: of a call of
 * MPI_Waitany, MPI_Testsome and so on in a loop that completes all requests of an array, of MPI_Testany that finds
 * nothing, and of a thread, from pthread_create to pthread_join; `threads_alive` are alive at the same time.
 */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include "pieces.h"

enum { kMost = 1000, kThreads = 300, kPiecesOfThreads = 3 };

static int values[kMost];
static MPI_Request requests[kMost];
static int indices[kMost];
static double used[kPieces];

static double median(int count) {
  qsort(used, (size_t)count, sizeof *used, by_value);
  return used[count / 2];
}

static void post(int count, int persistent) {
  for (int i = 0; i < count && !persistent; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  }
  if (persistent) MPI_Startall(count, requests);
  for (int i = count - 1; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
}

static void any(int count) {
  for (int i = 0, which; i < count; ++i) MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE);
}
static void some(int count) {
  for (int left = count, found; left > 0; left -= found) {
    MPI_Testsome(count, requests, &found, indices, MPI_STATUSES_IGNORE);
    if (found < 0) break;
  }
}
static void all(int count) {
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void measure_array(const char* name, int count, int persistent, int calls, void (*complete)(int)) {
  for (int i = 0; i < count && persistent; ++i) {
    MPI_Recv_init(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  }
  for (int piece = -1; piece < kPieces; ++piece) {
    post(count, persistent);
    const double begin = now();
    complete(count);
    if (piece >= 0) used[piece] = (now() - begin) / calls;
  }
  for (int i = 0; i < count && persistent; ++i) MPI_Request_free(&requests[i]);
  printf("%s_%d %.2f\n", name, count, median(kPieces));
}

static void measure_tests(int count) {
  enum { kCalls = 1000 };
  int index, flag;
  for (int i = 0; i < count; ++i) MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  for (int piece = -1; piece < kPieces; ++piece) {
    const double begin = now();
    for (int i = 0; i < kCalls; ++i) MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
    if (piece >= 0) used[piece] = (now() - begin) / kCalls;
  }
  for (int i = 0; i < count; ++i) MPI_Cancel(&requests[i]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  printf("testany_nothing_%d %.2f\n", count, median(kPieces));
}

static pthread_barrier_t called, seen;
static int stays_alive;

static void* task(void* unused) {
  int flag;
  (void)unused;
  MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  if (stays_alive) {
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&seen);
  }
  return NULL;
}

static void measure_threads(const char* name, int alive) {
  static pthread_t threads[kThreads];
  stays_alive = alive;
  pthread_barrier_init(&called, NULL, kThreads + 1);
  pthread_barrier_init(&seen, NULL, kThreads + 1);
  for (int piece = 0; piece < kPiecesOfThreads; ++piece) {
    const double begin = now();
    for (int i = 0; i < kThreads; ++i) {
      if (pthread_create(&threads[i], NULL, task, NULL) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
      if (!alive) pthread_join(threads[i], NULL);
    }
    if (alive) {
      pthread_barrier_wait(&called);
      pthread_barrier_wait(&seen);
      for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    }
    used[piece] = (now() - begin) / kThreads;
  }
  printf("%s %.2f\n", name, median(kPiecesOfThreads));
}

int main(int argc, char** argv) {
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int count = 10; count <= kMost; count *= 10) measure_array("waitany", count, 0, count, any);
    measure_array("waitany_persistent", kMost, 1, kMost, any);
    measure_array("testsome", kMost, 0, 1, some);
    measure_array("waitall", kMost, 0, 1, all);
    measure_tests(kMost);
    if (level == MPI_THREAD_MULTIPLE) {
      measure_threads("thread", 0);
      measure_threads("threads_alive", 1);
    }
    MPI_Send(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    for (int done = 0; !done;) {
      usleep(20000);
      MPI_Iprobe(0, 7, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
