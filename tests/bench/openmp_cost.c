/* Nanoseconds of CPU time per construct of OpenMP, as measurement_cost.c has them for MPI calls: run by
 * measurement_cost.py, with and without the measurement library. Built with clang -fopenmp.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kPieces = 20 };
static double pieces[kPieces];
static volatile long sum;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

#define MEASURE(name, BODY)                          \
  do {                                               \
    for (int piece = -1; piece < kPieces; ++piece) { \
      const double begin = now();                    \
      for (long i = 0; i < calls; ++i) {             \
        BODY                                         \
      }                                              \
      if (piece >= 0) pieces[piece] = now() - begin; \
    }                                                \
    qsort(pieces, kPieces, sizeof(double), by_value); \
    printf("%s %.2f\n", name, (pieces[kPieces / 2 - 1] + pieces[kPieces / 2]) / 2 / (double)calls); \
  } while (0)

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    MEASURE("parallel_one_thread", _Pragma("omp parallel num_threads(1)") { ++sum; });
    MEASURE("critical", _Pragma("omp critical") { ++sum; });
    MEASURE("lock", omp_set_lock(&lock); ++sum; omp_unset_lock(&lock););
    MEASURE("parallel_two_threads", _Pragma("omp parallel num_threads(2)") { ++sum; });
    omp_destroy_lock(&lock);
  }
  MPI_Finalize();
  return 0;
}
