/* What the trace of this process must show, said by the program next to each call.
 *
 * Each line is one call as local_events prints it. A line that begins with `*` may appear any
 * number of times, a
 * `?` once or not at all. Lines go to $KOJAK_EXPECT/<rank>; without that variable nothing is
 * written, so the program can be run with and without it. The result of the program itself goes to
 * standard output.
 */
#ifndef KOJAK_EXPECT_H
#define KOJAK_EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For loops that ask until something is there: on a busy machine they would ask a hundred thousand times. */
static inline int after_a_while(void) {
  usleep(100);
  return 1;
}

/* A program that large_names.py turned into one with large counts gives those, and expects the
 * other names. */
#if defined(KOJAK_LARGE_COUNTS)
typedef MPI_Count COUNT;
typedef MPI_Aint DISPLACEMENT;
#else
typedef int COUNT;
typedef int DISPLACEMENT;
#endif

static FILE* expect_file;
static int me, ranks;

static inline void expect(const char* format, ...) {
  va_list arguments;
  if (expect_file == NULL) return;
#if defined(KOJAK_LARGE_COUNTS)
  const char* name = format + strspn(format, "*?");
  const int marks = (int)(name - format), length = (int)strcspn(name, " ");
  if (is_large(name, length)) {
    fprintf(expect_file, "%.*s%.*s_c", marks, format, length, name);
    format = name + length;
  }
#endif
  va_start(arguments, format);
  vfprintf(expect_file, format, arguments);
  va_end(arguments);
  fputc('\n', expect_file);
}

static inline void begin_expecting(void) {
  const char* directory = getenv("KOJAK_EXPECT");
  if (directory != NULL) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", directory, me);
    expect_file = fopen(path, "w");
  }
}

#ifndef KOJAK_NO_WORLD
static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  begin_expecting();
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

#endif
