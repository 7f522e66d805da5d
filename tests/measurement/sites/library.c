/* A user's library that sites.c is linked with. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "part.h"

static volatile int calls;

OWN_FUNCTION void in_library(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: in_library MPI_Barrier */
  ++calls;
}

/* With SITES_NO_PROC /proc does not say what the program is, as where there is none. These stand before the C library's. */
static int is_refused(const char* path) {
  if (strcmp(path, "/proc/self/exe") != 0 && strcmp(path, "/proc/self/maps") != 0) return 0;
  if (getenv("SITES_NO_PROC") == NULL) return 0;
  errno = ENOENT;
  return 1;
}
ssize_t readlink(const char* path, char* text, size_t size) {
  return is_refused(path) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, text, size);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
  va_end(more);
  return is_refused(path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
