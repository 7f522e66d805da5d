/* Ways in which a measured SHMEM program can end, or be disturbed: stop MODE [CALLS]. As
 * tests/measurement/programs/stop.c: PE 0 writes CALLS times to PE 1 before the end, each PE tells
 * on standard output that it came so far, and PE 0 takes a lock some times after it.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 50 };
static long memory, lock;

static void forked(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(7); /* the library's own exit handlers would end SHMEM */
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "end";
  const long calls = argc > 2 ? atol(argv[2]) : 1000;
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (strcmp(mode, "limit") == 0) { /* not before SHMEM has made its own files */
    const struct rlimit limit = {1 << 18, 1 << 18};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (me == 0) {
    for (long i = 0; i < calls; ++i) shmem_long_p(&memory, 1, 1);
  }
  shmem_barrier_all();
  printf("rank %d %s\n", me, me == 1 && memory != 1 ? "wrong" : "right");
  fflush(stdout);
  shmem_barrier_all();
  if (strcmp(mode, "end") != 0)
    usleep(300000); /* the others leave the barrier before somebody dies */

  if (strcmp(mode, "exit") == 0) _Exit(3);
  if (strcmp(mode, "exit_handlers") == 0) exit(3);
  if (strcmp(mode, "kill") == 0 && me == 1) raise(SIGKILL);
  if (strcmp(mode, "segv") == 0 && me == 1) raise(SIGSEGV);
  if (strcmp(mode, "term") == 0 && me == 1) raise(SIGTERM);
  if (strcmp(mode, "abort") == 0 && me == 1) shmem_global_exit(5);
  if (strcmp(mode, "kill") == 0 || strcmp(mode, "segv") == 0 || strcmp(mode, "term") == 0 ||
      strcmp(mode, "abort") == 0) {
    shmem_barrier_all(); /* never returns */
  }
  if (strcmp(mode, "fork") == 0) forked();
  if (strcmp(mode, "close") == 0) { /* as daemons do; and take the numbers for other files */
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    _Exit(4);
  }
  if (strcmp(mode, "chdir") == 0 && chdir("/") != 0) return 1;
  for (long i = 0; me == 0 && i < LOCKS; ++i) {
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  printf("end %d\n", me);
  fflush(stdout);
  shmem_finalize();
  return 0;
}
