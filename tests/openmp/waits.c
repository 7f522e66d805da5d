/* A program of OpenMP and MPI whose threads wait, and which notes its own times of it.
 *
 * Usage: waits PART THREADS. Each thread notes when it comes to a place where it may wait, and what it does
 * in between; at the end the process prints `note RANK PART PLACE THREAD BEGIN END` for each, in seconds of one
 * clock. check_waits.py computes from these what the report must say.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { kMostNotes = 4096 };
static struct {
  const char* place;
  int thread;
  double begin, end;
} notes[kMostNotes];
static int count;
static __thread int thread_number;
static int threads;

static void note(const char* place, double begin, double end) {
  const int i = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  notes[i].place = place;
  notes[i].thread = thread_number;
  notes[i].begin = begin;
  notes[i].end = end;
}
static void came(const char* place) {
  const double t = now();
  note(place, t, t);
}

static void barriers(void) {
#pragma omp parallel num_threads(threads)
  {
    const int t = thread_number = omp_get_thread_num();
    pass(20 + 60 * t);
    came("explicit 1");
#pragma omp barrier
    double last = 0;
#pragma omp for schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
      pass(20 + 50 * (threads - 1 - t));
      last = now();
    }
    note("implicit 1", last, last);
    pass(30 + 70 * t);
    came("implicit 2");
  }
}

static void parts_of_work(void) {
#pragma omp parallel num_threads(threads)
  {
    thread_number = omp_get_thread_num();
    double last = now();
#pragma omp single
    {
      pass(90);
      last = now();
    }
    note("implicit 1", last, last);
    last = now();
#pragma omp sections
    {
#pragma omp section
      {
        pass(60);
        last = now();
      }
#pragma omp section
      {
        pass(120);
        last = now();
      }
    }
    note("implicit 2", last, last);
#pragma omp master
    pass(50);
    came("implicit 3");
  }
}

static void criticals(void) {
#pragma omp parallel num_threads(threads)
  {
    thread_number = omp_get_thread_num();
    const double before = now();
#pragma omp critical
    {
      const double inside = now();
      note("critical", before, inside);
      pass(70);
      note("hold", inside, now());
    }
    came("implicit 1");
  }
}

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

static void locks(void) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(threads)
  {
    thread_number = omp_get_thread_num();
    double before = now();
    omp_set_lock(&lock);
    double inside = now();
    note("lock", before, inside);
    pass(60);
    if (omp_test_lock(&lock)) abort(); /* fails: it is held */
    note("hold", inside, now());
    omp_unset_lock(&lock);
    came("explicit 1");
#pragma omp barrier
    before = now();
    omp_set_nest_lock(&nest_lock);
    inside = now();
    note("nest", before, inside);
    omp_set_nest_lock(&nest_lock);
    pass(60);
    omp_unset_nest_lock(&nest_lock);
    note("hold nest", inside, now());
    omp_unset_nest_lock(&nest_lock);
    came("implicit 1");
  }
}

static void tasks(void) {
#pragma omp parallel num_threads(threads)
  {
    thread_number = omp_get_thread_num();
#pragma omp single
    {
      for (int i = 0; i < 2 * threads - 1; ++i) {
#pragma omp task
        {
          const double begin = now();
          pass(i == 0 ? 250 : 40); /* the longest goes to another thread: that takes the oldest */
          note("task", begin, now());
        }
      }
      const double before = now();
#pragma omp taskwait
      note("taskwait", before, now());
    }
  }
}

static void inner(int outer) {
#pragma omp parallel num_threads(2) firstprivate(outer)
  {
    const int mine = thread_number = 2 * outer + omp_get_thread_num();
    pass(mine % 2 == 0 ? 30 : 90 + 40 * outer);
    came(outer == 0 ? "implicit 1" : "implicit 2");
  }
}

static void nested(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    const int outer = omp_get_thread_num();
    inner(outer);
    thread_number = 2 * outer;
    came("implicit 3");
  }
}

/* Process 1 comes late to the second fence, because one of its threads has more to do. */
static void fences(int rank) {
  double* memory;
  MPI_Win window;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  thread_number = 0;
  double before = now();
  MPI_Win_fence(0, window);
  note("fence 1", before, now());
#pragma omp parallel num_threads(threads)
  {
    thread_number = omp_get_thread_num();
    if (rank == 1 && thread_number == 1) pass(150);
    came("implicit 1");
  }
  before = now();
  MPI_Win_fence(0, window);
  note("fence 2", before, now());
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* part = argv[1];
  threads = atoi(argv[2]);
  omp_set_dynamic(0);
  if (strcmp(part, "barriers") == 0) barriers();
  if (strcmp(part, "work") == 0) parts_of_work();
  if (strcmp(part, "criticals") == 0) criticals();
  if (strcmp(part, "locks") == 0) locks();
  if (strcmp(part, "tasks") == 0) tasks();
  if (strcmp(part, "nested") == 0) nested();
  if (strcmp(part, "fences") == 0) fences(rank);
  MPI_Finalize();
  for (int i = 0; i < count; ++i) {
    printf("note %d %s|%d %.9f %.9f\n", rank, notes[i].place, notes[i].thread, notes[i].begin, notes[i].end);
  }
/* The workers wake after MPI_Finalize. */
#pragma omp parallel num_threads(threads)
  thread_number = omp_get_thread_num();
  return count == 0 ? 9 : 0;
}
