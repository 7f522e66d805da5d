/* The calls of a SHMEM program with the times around them: "call PE KEY ENTER EXIT" for each, by
   its own clock; check_waits.py makes the truth of them. */
#ifndef KOJAK_SHMEM_TIMED_H
#define KOJAK_SHMEM_TIMED_H

#include <shmem.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { kCalls = 64 };
static struct {
  const char* key;
  double enter, exit;
} calls[kCalls];
static int count;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void late(double seconds) {
  usleep((useconds_t)(seconds * 1e6));
}

#define TIMED(name, call)        \
  do {                           \
    calls[count].key = name;     \
    calls[count].enter = now();  \
    call;                        \
    calls[count++].exit = now(); \
  } while (0)

static void print_calls(int me) {
  for (int i = 0; i < count; ++i) {
    printf("call %d %s %.9f %.9f\n", me, calls[i].key, calls[i].enter, calls[i].exit);
  }
  fflush(stdout);
}

#endif
