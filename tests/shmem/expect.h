/* What the trace of this PE must show, said by a SHMEM program next to each call.
 *
 * Each line is one call, as check_calls.py prints it from the merged trace: the function, and what
 * the call did. put:PE:BYTES:PLACE:CONTEXT:FLAGS, get:...   a transfer; flags 1 non-blocking, 2
 * atomic quiet:CONTEXT     what was issued on it is complete (`all`: every context)
 *   coll:ROOT:FIRST,STRIDE,SIZE:SENT:RECEIVED   a collective call, on these PEs
 *   found:PLACE:BYTES:COMPARISON:VALUE          a variable has what was looked for
 *   lock:PLACE, unlock:PLACE
 * A line that begins with `*` may stand there any number of times. A place is data+N, N bytes
 * behind the program's beginning, or heap+N, N behind what shmem_malloc gave first. Lines go to
 * $KOJAK_EXPECT/<PE>; without that variable nothing is written, so that the program can be run with
 * and without it.
 */
#ifndef KOJAK_SHMEM_EXPECT_H
#define KOJAK_SHMEM_EXPECT_H

#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* expect_file;
static int me, pes;
static const char* first_block; /* of the heap */
extern const char __executable_start[];

static inline void expect(const char* format, ...) {
  va_list arguments;
  if (expect_file == NULL) return;
  va_start(arguments, format);
  vfprintf(expect_file, format, arguments);
  va_end(arguments);
}

/* To be called first: which PE this is. */
static inline void begin_expecting(void) {
  const char* directory = getenv("KOJAK_EXPECT");
  me = shmem_my_pe();
  pes = shmem_n_pes();
  if (directory == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", directory, me);
  expect_file = fopen(path, "w");
}
static inline void end_expecting(void) {
  if (expect_file != NULL) fclose(expect_file);
  expect_file = NULL;
}

static inline const char* place(const volatile void* address) {
  static char text[4][40];
  static int next;
  extern const char end[];
  const char* const at = (const char*)address;
  char* const to = text[next++ % 4];
  if (at >= __executable_start && at < end) {
    snprintf(to, sizeof text[0], "data+%ld", (long)(at - __executable_start));
  } else {
    snprintf(to, sizeof text[0], "heap+%ld", (long)(at - first_block));
  }
  return to;
}

/* `kind` is put or get. */
static inline void expect_transfer(const char* kind, int pe, size_t bytes, const volatile void* at,
                                   int context, int flags) {
  expect(" %s:%d:%zu:%s:%d:%d", kind, pe, bytes, place(at), context, flags);
}
static inline void expect_put(const char* function, int pe, size_t bytes, const volatile void* at,
                              int context, int flags) {
  expect("%s", function);
  expect_transfer("put", pe, bytes, at, context, flags);
  expect("\n");
}
static inline void expect_get(const char* function, int pe, size_t bytes, const volatile void* at,
                              int context, int flags) {
  expect("%s", function);
  expect_transfer("get", pe, bytes, at, context, flags);
  expect("\n");
}
/* An atomic operation that brings the old value. */
static inline void expect_fetch(const char* function, int pe, size_t bytes, const volatile void* at,
                                int context) {
  expect("%s", function);
  expect_transfer("get", pe, bytes, at, context, 2);
  expect_transfer("put", pe, bytes, at, context, 2);
  expect("\n");
}
/* On all PEs; a barrier or an allocation completes the default context. */
static inline void expect_together(const char* function, int completes) {
  expect("%s%s coll:-:0,1,%d:0:0\n", function, completes ? " quiet:0" : "", pes);
}
static inline void barrier(void) {
  shmem_barrier_all();
  expect_together("shmem_barrier_all", 1);
}

static int wrong_results;
static inline void check(int good, const char* what) {
  if (good) return;
  ++wrong_results;
  printf("PE %d: wrong: %s\n", me, what);
}

#endif
