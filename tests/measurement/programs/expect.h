/* What the trace of this process must show, said by the program next to each call.
 *
 * Each line is one call as local_events prints it. A line that begins with `*` may appear any number of times, a
 * `?` once or not at all. Lines go to $KOJAK_EXPECT/<rank>; without that variable nothing is written, so the program can be
 * run with and without it. The result of the program itself goes to standard output.
 */
#ifndef KOJAK_EXPECT_H
#define KOJAK_EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* expect_file;
static int me, ranks;

static inline void expect(const char* format, ...) {
  va_list arguments;
  if (expect_file == NULL) return;
  va_start(arguments, format);
  vfprintf(expect_file, format, arguments);
  va_end(arguments);
  fputc('\n', expect_file);
}

static inline void begin(int* argc, char*** argv) {
  const char* directory = getenv("KOJAK_EXPECT");
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (directory != NULL) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", directory, me);
    expect_file = fopen(path, "w");
  }
  expect("MPI_Init");
}

static inline void end(void) {
  expect("MPI_Finalize");
  if (expect_file != NULL) fclose(expect_file);
  printf("rank %d of %d done\n", me, ranks);
  MPI_Finalize();
}

/* The program's own checks: a wrong result ends it with an error. */
static inline void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s\n", me, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static inline void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  expect("MPI_Barrier coll:-:0:0");
}

#endif
