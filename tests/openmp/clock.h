/* The clock of the programs here, and passing time without a processor. */
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pass(double milliseconds) {
  struct timespec t = {0, (long)(milliseconds * 1e6)};
  nanosleep(&t, NULL);
}
