/* A program of OpenMP and MPI with the constructs that programs have beside loops and barriers:
 * each part is run by itself, and says what it did.
 *
 * Usage: constructs PART THREADS. At the end each process prints `result PART RANK VALUE`, which is
 * the same with and without the measurement, and `count REGION NUMBER` for regions that its report
 * must have that often; `note RANK PLACE|THREAD BEGIN END` as waits.c does. check_constructs.py
 * compares them with the report.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { kMostNotes = 256 };
static struct {
  const char* place;
  int thread;
  double begin, end;
} notes[kMostNotes];
static int count, threads, rank, size;
static long result;

static void note(const char* place, double begin, double end) {
  const int i = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  notes[i].place = place;
  notes[i].thread = omp_get_thread_num();
  notes[i].begin = begin;
  notes[i].end = end;
}
static void expect(const char* region, int number) {
  printf("count %s|%d\n", region, number);
}

/* Four tasks that each need the one before. */
static void dependences(void) {
  long value = 1;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(inout : value) shared(value) firstprivate(i)
      {
        const double begin = now();
        pass(20);
        value = value * 3 + i;
        note("task", begin, now());
      }
    }
#pragma omp taskwait
  }
  result = value;
  expect("omp task", 4);
  expect("omp taskwait", 1);
}

static void taskloop(void) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop num_tasks(6)
  for (int i = 0; i < 12; ++i) {
    pass(4);
    __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
  }
  result = sum;
  expect("omp task", 6);
  expect("omp taskloop", 1);
}

/* Iterations wait for their turn: nobody has what they wait for. */
static void ordered(void) {
  long value = 1;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 3 * threads; ++i) {
      pass(i == 0 ? 60 : 2);
      const double before = now();
#pragma omp ordered
      {
        note("ordered", before, now());
        value = value * 3 + i;
        pass(10);
      }
    }
  }
  result = value % 1000007;
  expect("omp ordered block", 3 * threads);
}

static void doacross(void) {
  long value[33] = {1};
#pragma omp parallel num_threads(threads)
  {
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 1; i < 33; ++i) {
      pass(1);
#pragma omp ordered depend(sink : i - 1)
      value[i] = value[i - 1] + i;
#pragma omp ordered depend(source)
    }
  }
  result = value[32];
  expect("omp loop", threads);
}

static void reduction(void) {
  long sum = 0, most = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 10) reduction(+ : sum) \
    reduction(max : most)
  for (int i = 0; i < 1000; ++i) {
    sum += i;
    if (i > most) most = i;
  }
  result = sum + most;
  expect("omp loop", threads);
}

/* With OMP_CANCELLATION=true the loop ends early; all threads go on behind it. */
static void cancellation(void) {
  long behind = 0;
  for (int step = 0; step < 3; ++step) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (int i = 0; i < 1000; ++i) {
#pragma omp cancel for if (i % 100 == 7)
        pass(0.1);
      }
      __atomic_fetch_add(&behind, 1, __ATOMIC_RELAXED);
    }
  }
#pragma omp parallel num_threads(threads)
  {
#pragma omp cancel parallel
    pass(1);
  }
  result = behind;
  expect("omp parallel", 4 * threads);
}

static long own;
#pragma omp threadprivate(own)

static void threadprivate(void) {
  long sum = 0;
  own = 5;
#pragma omp parallel num_threads(threads) copyin(own)
  own += omp_get_thread_num();
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  sum += own;
  result = sum; /* 5 for each thread, and their numbers */
  expect("omp parallel", 2 * threads);
}

/* Teams of other sizes; the last one is of one thread within another. */
static void sizes(void) {
  static const int of[] = {2, 3, 1, 4, 1, 2};
  long sum = 0;
  int all = 0;
  for (int step = 0; step < 60; ++step) {
    const int n = of[step % 6];
    all += n;
#pragma omp parallel num_threads(n)
    __atomic_fetch_add(&sum, omp_get_num_threads(), __ATOMIC_RELAXED);
  }
  omp_set_max_active_levels(1);
  for (int step = 0; step < 10; ++step) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    __atomic_fetch_add(&sum, omp_get_num_threads(), __ATOMIC_RELAXED);
    all += 2 + 2; /* two, and within each of them one */
  }
  result = sum;
  expect("omp parallel", all);
}

/* Many critical sections, mostly without anybody else there, and locks. Each of them guards a
 * count of its own, which comes out too small if it lets two threads in at once. */
static void criticals(void) {
  long in_first = 0, in_second = 0, in_lock = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
    for (int i = 0; i < 300; ++i) {
#pragma omp critical(first)
      {
        ++in_first;
        if (i % 20 == 0) {
#pragma omp critical(second)
          ++in_second;
        }
      }
      omp_set_lock(&lock);
      ++in_lock;
      omp_unset_lock(&lock);
    }
#pragma omp barrier
#pragma omp single
    {
#pragma omp critical(first)
      {
        int done;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
        pass(30);
      }
    }
  }
  omp_destroy_lock(&lock);
  result = in_first + in_second + in_lock;
  expect("omp critical block", threads * 315 + 1);
  expect("omp_set_lock", threads * 300);
}

/* Every thread puts into the memory of the next process. */
static void put_all(MPI_Win window, double* value, int thread) {
  for (int i = 0; i < 10; ++i) {
    MPI_Put(value, 1, MPI_DOUBLE, (rank + 1) % size, thread, 1, MPI_DOUBLE, window);
    MPI_Win_flush((rank + 1) % size, window);
  }
}
static void multiple(void) {
  double* memory;
  MPI_Win window;
  MPI_Win_allocate(8 * threads, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memset(memory, 0, 8 * (size_t)threads);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    double value = 10 * rank + thread;
    put_all(window, &value, thread);
    int got = 0, sent = thread;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, thread, &got, 1, MPI_INT,
                 (rank + size - 1) % size, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != thread) abort();
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < threads; ++i) result = result * 100 + (long)memory[i];
  MPI_Win_free(&window);
  expect("MPI_Put", 10 * threads);
  expect("MPI_Sendrecv", threads);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"dependences", dependences},
               {"taskloop", taskloop},
               {"ordered", ordered},
               {"doacross", doacross},
               {"reduction", reduction},
               {"cancellation", cancellation},
               {"threadprivate", threadprivate},
               {"sizes", sizes},
               {"criticals", criticals},
               {"multiple", multiple}};
  int provided;
  if (argc < 3) return 2;
  const char* part = argv[1];
  threads = atoi(argv[2]);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  omp_set_dynamic(0);
  if (strcmp(part, "exit") == 0) { /* in the middle of a parallel region */
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp critical
      if (omp_get_thread_num() == threads - 1) exit(7);
      pass(500);
    }
  }
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (strcmp(part, parts[i].name) == 0) parts[i].run();
  }
  printf("result %s %d %ld\n", part, rank, result);
  for (int i = 0; i < count; ++i) {
    printf("note %d %s|%d %.9f %.9f\n", rank, notes[i].place, notes[i].thread, notes[i].begin,
           notes[i].end);
  }
  if (strcmp(part, "parallel_end") == 0) { /* MPI is over while the threads are in a region */
#pragma omp parallel num_threads(threads)
    {
#pragma omp master
      MPI_Finalize();
#pragma omp barrier
    }
    return 0;
  }
  MPI_Finalize();
  return 0;
}
