/* What may happen to a measured program, and must not harm it: guard MODE [CALLS].
 *
 * Rank 0 puts CALLS times into rank 1's window, before and after what the mode does. Counts that the test compares
 * with the trace go to $KOJAK_COUNTS, if that is set; the output is the same with and without the measurement.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "epilog/runtime/elg_user.h"

enum { PAUSES = 20 };
static int me;
static volatile sig_atomic_t handled, children, calls_in_handler;

/* Cuts all buffer files of the run, as a careless script may. */
static void cut_buffers(const char* directory) {
  DIR* dir = directory ? opendir(directory) : NULL;
  const struct dirent* entry;
  while (dir && (entry = readdir(dir))) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (strstr(path, ".buf") && truncate(path, 0) != 0) perror(path);
  }
  if (dir) closedir(dir);
}

/* Fills the file system that $KOJAK_FILL lies on, to the last byte that it gives. Never a large one: then the small one that
 * the test has mounted is gone. */
static void fill_disk(void) {
  static char block[65536];
  const char* path = getenv("KOJAK_FILL");
  char folder[4096] = "";
  struct statvfs space;
  if (path) snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (!path || statvfs(folder, &space) != 0 || (double)space.f_frsize * space.f_blocks > 1e9) return;
  const int fd = path ? open(path, O_WRONLY | O_CREAT, 0666) : -1;
  for (size_t size = sizeof block; fd >= 0 && size != 0;) {
    if (write(fd, block, size) <= 0) {
      fsync(fd);
      size /= 2;
    }
  }
  if (fd >= 0) close(fd);
}

static void on_child(int signal) {
  (void)signal;
  ++children;
}

static void on_alarm(int signal) {
  (void)signal;
  const int saved = errno;
  ELG_USER_START("handler");
  ELG_USER_START("inner of the handler");
  ELG_USER_END("inner of the handler");
  ELG_USER_END("handler");
  if (calls_in_handler) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* asks nobody else, so it does no harm in there */
  }
  ++handled;
  errno = saved;
}

static void set_alarm(long microseconds) {
  const struct itimerval often = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &often, NULL);
}

static void put(MPI_Win win, long calls) {
  static const double value = 1; /* read until the fence */
  for (long i = 0; me == 0 && i < calls; ++i) MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
}

/* Regions with names that come to be at run time, and literals. */
static void named(long rounds) {
  static const char* const names[] = {"first", "second", "third"};
  for (long i = 0; i < rounds; ++i) {
    char text[32];
    snprintf(text, sizeof text, "made %ld", i % 2);
    ELG_USER_START("literal");
    ELG_USER_START(names[i % 3]);
    ELG_USER_START(text);
    text[5] = (char)('0' + i % 2);
    ELG_USER_END(text);
    ELG_USER_END(names[i % 3]);
    ELG_USER_END("literal");
  }
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "end";
  const long calls = argc > 2 ? atol(argv[2]) : 1000;
  const int in_handlers = strncmp(mode, "handler", 7) == 0;
  struct sigaction action;
  double* memory;
  MPI_Win win;
  int left;
  if (strcmp(mode, "children") == 0) {
    memset(&action, 0, sizeof action);
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, NULL);
  }
  /* Threads that MPI makes (UCX has one) do not take the alarms. */
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  MPI_Init(&argc, &argv);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  put(win, calls);
  if (strcmp(mode, "cut") == 0) cut_buffers(getenv("ELG_DIR"));
  if (strcmp(mode, "fill") == 0 && me == 0) fill_disk();
  if (strcmp(mode, "children") == 0) {
    left = waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
    left += waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD ? 0 : 1;
    printf("rank %d children %d signals %d\n", me, left, (int)children);
  }
  if (in_handlers) {
    static char stack[65536];
    stack_t other;
    memset(&other, 0, sizeof other);
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    if (strcmp(mode, "handler_stack") == 0) {
      sigaltstack(&other, NULL);
      action.sa_flags |= SA_ONSTACK;
    }
    calls_in_handler = strcmp(mode, "handler_calls") == 0;
    sigaction(SIGALRM, &action, NULL);
    set_alarm(200);
    for (long i = 0; i < calls; ++i) {
      ELG_USER_START("work");
      put(win, 1);
      ELG_USER_START("part");
      ELG_USER_END("part");
      ELG_USER_END("work");
    }
    /* Here the handler interrupts nothing but the program itself, however many calls it interrupted before. */
    const int before = handled;
    while (handled < before + PAUSES) pause();
    set_alarm(0);
  }
  if (strcmp(mode, "names") == 0) named(calls);
  put(win, calls);
  MPI_Win_fence(0, win);
  printf("rank %d %s\n", me, me == 1 && memory[0] != 1 ? "wrong" : "right");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strncmp(mode, "kill", 4) == 0) { /* kill: one process, kill_keeper: what keeps its records before */
    if (me == 1 && strcmp(mode, "kill_keeper") == 0 && getenv("KOJAK_KEEPERS")) {
      if (system(getenv("KOJAK_KEEPERS")) != 0) return 1;
    }
    if (me == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD); /* never returns */
  }
  if (getenv("KOJAK_COUNTS")) {
    char path[4096];
    FILE* file;
    snprintf(path, sizeof path, "%s.%d", getenv("KOJAK_COUNTS"), me);
    file = fopen(path, "w");
    if (file) {
      fprintf(file, "%d\n", (int)handled);
      fclose(file);
    }
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  printf("end %d\n", me);
  return 0;
}
