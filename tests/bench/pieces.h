/* Times of calls, in pieces: the median piece is printed as `name nanoseconds`, CPU time of a call:
   of the process, or what PIECES_CLOCK says. */
#ifndef KOJAK_PIECES_H
#define KOJAK_PIECES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef PIECES_CLOCK
#define PIECES_CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

enum { kPieces = 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(PIECES_CLOCK, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double pieces[kPieces];

static inline void print_median(const char* name, long calls) {
  qsort(pieces, kPieces, sizeof(double), by_value);
  printf("%s %.2f\n", name, (pieces[kPieces / 2 - 1] + pieces[kPieces / 2]) / 2 / (double)calls);
}

/* Runs BODY `calls` times in each piece, and AFTER once untimed. */
#define MEASURE(name, BODY, AFTER)                   \
  do {                                               \
    for (int piece = -1; piece < kPieces; ++piece) { \
      const double begin = now();                    \
      for (long i = 0; i < calls; ++i) {             \
        BODY;                                        \
      }                                              \
      if (piece >= 0) pieces[piece] = now() - begin; \
      AFTER;                                         \
    }                                                \
    print_median(name, calls);                       \
  } while (0)

#endif
