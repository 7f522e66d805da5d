/* What it costs to read what the kernel counts of a thread, in microseconds of CPU time: of a call
 * that begins a millisecond after the last one, with the reading before it.
 *
 * Run with and without the measurement library: reading_cost. `spins` computes between the calls,
 * so nothing is written; `sleeps` pauses, so each call writes one PROCESSOR; `at once` is a call
 * right behind another, without a reading. Each figure is the least mean of five runs.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { kCalls = 200 };

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void spin(void) {
  for (const double end = seconds(CLOCK_MONOTONIC) + 1.2e-3; seconds(CLOCK_MONOTONIC) < end;) {
  }
}
static void pause_a_while(void) {
  const struct timespec time = {0, 1200000};
  nanosleep(&time, NULL);
}
static void nothing(void) {}

static double measure(void (*between)(void)) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    double sum = 0;
    for (int i = 0; i < kCalls; ++i) {
      between();
      const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
      MPI_Barrier(MPI_COMM_SELF);
      sum += seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    if (sum < best) best = sum;
  }
  return 1e6 * best / kCalls;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  printf("at once %.2f\n", measure(nothing));
  printf("spins   %.2f\n", measure(spin));
  printf("sleeps  %.2f\n", measure(pause_a_while));
  MPI_Finalize();
  return 0;
}
