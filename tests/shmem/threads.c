/* Threads that call SHMEM at the same time, where the library grants it: each thread writes to
   places of its own of the next PE, and adds to a counter of all. "threads N" on standard output
   says how many calls of each kind all threads made. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

enum { kThreads = 3, kTimes = 200 };
static long places[kThreads][kTimes], counter;
static int me, pes;

static void* work(void* argument) {
  const long thread = *(const long*)argument;
  for (long i = 0; i < kTimes; ++i) {
    shmem_long_p(&places[thread][i], 1000 * thread + i + me, (me + 1) % pes);
    if (i % 20 == 0) shmem_long_atomic_add(&counter, 1, 0);
  }
  if (thread != 0) shmem_quiet(); /* what the first has written is completed by the barrier */
  return NULL;
}

int main(void) {
  int provided = 0;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 ||
      provided != SHMEM_THREAD_MULTIPLE) {
    printf("the library grants no threads\n");
    fflush(stdout);
    shmem_finalize();
    return 77;
  }
  me = shmem_my_pe();
  pes = shmem_n_pes();
  shmem_barrier_all();
  pthread_t threads[kThreads];
  long numbers[kThreads];
  for (long i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  shmem_barrier_all();
  int wrong = 0;
  for (long thread = 0; thread < kThreads; ++thread) {
    for (long i = 0; i < kTimes; ++i)
      wrong += places[thread][i] != 1000 * thread + i + (me + pes - 1) % pes;
  }
  wrong += me == 0 && counter != (long)pes * kThreads * kTimes / 20;
  printf("PE %d: %d wrong results\n", me, wrong);
  fflush(stdout);
  shmem_finalize();
  return wrong != 0;
}
