/* Counters whose values in each region and call are known: the program makes them itself
 * (fake_papi.c asks it), touches pages of memory, and sleeps. It prints what a report must say, one
 * line each: metric region rank thread least most */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "epilog/runtime/elg_user.h"

enum { kPage = 4096, kSleeps = 20, kSteps = 3 };

static _Thread_local long long work, other;
static long long in_callback; /* counted by the operation that MPI calls */
static int me, fake;

/* What the calling thread counted: FAKE_WORK, FAKE_OTHER. */
__attribute__((visibility("default"))) long long fake_counter(int which) {
  return which == 0 ? work : other;
}

static void count(long long n) {
  work += n;
  other += 2 * n + 1;
}

static void truth(const char* metric, const char* region, int thread, long long least,
                  long long most) {
  printf("%s %s %d %d %lld %lld\n", metric, region, me, thread, least, most);
}

static char* fresh(int pages) {
  char* memory =
      mmap(NULL, (size_t)pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise(memory, (size_t)pages * kPage, MADV_NOHUGEPAGE);
  return memory;
}

static long long nanoseconds(const struct timespec* from, const struct timespec* to) {
  return (to->tv_sec - from->tv_sec) * 1000000000LL + to->tv_nsec - from->tv_nsec;
}

static struct rusage usage(void) {
  struct rusage u;
  getrusage(RUSAGE_THREAD, &u);
  return u;
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
  count(500);
  in_callback += 500;
}

static void* in_thread(void* unused) {
  (void)unused;
  ELG_USER_START("thread work");
  count(77);
  ELG_USER_END("thread work");
  return NULL;
}

int main(int argc, char** argv) {
  int provided, ranks;
  fake = argc > 1 && argv[1][0] == 'f';
  count(100000); /* before the trace begins */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  long long outside = 0, local = 0, all = 0;
  const long long units = 1000 * (me + 1);
  MPI_Win_fence(0, window);
  for (int step = 0; step < kSteps; ++step) {
    ELG_USER_START("work");
    count(units);
    ELG_USER_START("inner");
    count(30);
    ELG_USER_END("inner");
    count(5);
    ELG_USER_END("work");

    int value = 1, sum = 2;
    count(7);
    MPI_Put(&value, 1, MPI_INT, (me + 1) % ranks, 0, 1, MPI_INT, window);
    count(11);
    MPI_Win_fence(0, window);
    outside += 7 + 11;

    in_callback = 0;
    MPI_Reduce_local(&value, &sum, 1, MPI_INT, op);
    local += in_callback;
    in_callback = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    all += in_callback;
    MPI_Request request;
    int done = 0;
    MPI_Irecv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE); /* finds nothing */
    MPI_Send(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Pcontrol(0); /* counted while nothing is recorded: by PAUSING */
    count(13);
    MPI_Pcontrol(1);
  }
  if (fake) {
    truth("FAKE_WORK", "work", 0, kSteps * (units + 5), kSteps * (units + 5));
    truth("FAKE_OTHER", "work", 0, 2 * kSteps * (units + 5) + 2 * kSteps,
          2 * kSteps * (units + 5) + 2 * kSteps);
    truth("FAKE_WORK", "inner", 0, kSteps * 30, kSteps * 30);
    truth("FAKE_OTHER", "inner", 0, kSteps * 61, kSteps * 61);
    truth("FAKE_WORK", "MPI_Reduce_local", 0, local, local);
    truth("FAKE_WORK", "MPI_Allreduce", 0, all, all);
    truth("FAKE_WORK", "MPI_Put", 0, 0, 0);
    truth("FAKE_WORK", "MPI_Test", 0, 0, 0);
    truth("FAKE_WORK", "MPI_Win_fence", 0, 0, 0);
    truth("FAKE_WORK", "PAUSING", 0, kSteps * 13, kSteps * 13);
    truth("FAKE_WORK", "program", 0, outside, outside);
  }

  struct rusage before = usage();
  const int pages = 500 * (me + 1);
  ELG_USER_START("touch");
  char* const touched = fresh(pages);
  for (int i = 0; i < pages; ++i) touched[(size_t)i * kPage] = 1;
  ELG_USER_END("touch");
  const long long faults = usage().ru_minflt - before.ru_minflt;
  truth("ru_minflt", "touch", 0, pages, faults);
  truth("perf::PAGE-FAULTS", "touch", 0, pages, faults);

  before = usage();
  ELG_USER_START("sleeps");
  for (int i = 0; i < kSleeps; ++i) usleep(1000);
  ELG_USER_END("sleeps");
  truth("ru_nvcsw", "sleeps", 0, kSleeps, usage().ru_nvcsw - before.ru_nvcsw);

  /* What perf calls TASK-CLOCK also has the interrupts that came meanwhile, which the thread's own
   * clock leaves out. */
  struct timespec from, to, begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  ELG_USER_START("compute");
  volatile double x = 1;
  for (int i = 0; i < 20000000; ++i) x = x * 0.999 + 1;
  ELG_USER_END("compute");
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  clock_gettime(CLOCK_MONOTONIC, &end);
  truth("perf::TASK-CLOCK", "compute", 0, nanoseconds(&from, &to) / 2, nanoseconds(&begin, &end));

  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  if (fake) {
    truth("FAKE_WORK", "thread work", 1, 77, 77);
    truth("FAKE_OTHER", "thread work", 1, 155, 155);
  }
  MPI_Win_free(&window);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
