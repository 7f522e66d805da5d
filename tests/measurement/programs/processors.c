/* All processes share one processor and compute on it, each a while by the wall clock; then they wait for each other.
 * Each says what the kernel counted of it between two barriers:
 *   rank R ran SECONDS without SECONDS
 * or `rank R unknown` where the kernel does not tell. With `apart` nobody is bound, and nobody computes. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int read_kernel(double* ran, double* without) {
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (file == NULL) return 0;
  unsigned long long a, b;
  const int got = fscanf(file, "%llu %llu", &a, &b);
  fclose(file);
  *ran = 1e-9 * (double)a;
  *without = 1e-9 * (double)b;
  return got == 2;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const int apart = argc > 1 && strcmp(argv[1], "apart") == 0;
  cpu_set_t mine, one;
  sched_getaffinity(0, sizeof mine, &mine);
  if (!apart) {
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &mine)) ++first;
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  double ran[2], without[2];
  int known = read_kernel(&ran[0], &without[0]);
  volatile double sum = 0;
  if (apart) {
    usleep(300000);
  } else {
    for (const double end = now() + 0.8; now() < end;) sum += 1;
  }
  known = known && read_kernel(&ran[1], &without[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (known) {
    printf("rank %d ran %.6f without %.6f\n", rank, ran[1] - ran[0], without[1] - without[0]);
  } else {
    printf("rank %d unknown\n", rank);
  }
  MPI_Finalize();
  return 0;
}
