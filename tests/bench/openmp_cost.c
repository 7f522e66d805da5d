/* Nanoseconds of CPU time per construct of OpenMP, as measurement_cost.c has them for MPI calls:
 * run by measurement_cost.py, with and without the measurement library. Built with clang -fopenmp.
 */
#include <mpi.h>
#include <omp.h>

#define PIECES_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "pieces.h"

static volatile long sum;

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    MEASURE(
        "parallel_one_thread", _Pragma("omp parallel num_threads(1)") { ++sum; }, (void)0);
    MEASURE(
        "critical", _Pragma("omp critical") { ++sum; }, (void)0);
    MEASURE("lock", omp_set_lock(&lock); ++sum; omp_unset_lock(&lock), (void)0);
    MEASURE(
        "parallel_two_threads", _Pragma("omp parallel num_threads(2)") { ++sum; }, (void)0);
    omp_destroy_lock(&lock);
  }
  MPI_Finalize();
  return 0;
}
