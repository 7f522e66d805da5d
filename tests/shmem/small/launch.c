/* Starts the PEs of the small SHMEM library: launch -n N PROGRAM ARGUMENTS...
 *
 * Ends with the highest status that a PE ends with (128 + N where signal N ended it); then the
 * others are ended, too.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[] = "/tmp/small_shmem_XXXXXX", told[128];
  pid_t pids[64];
  int highest = 0;
  const int pes = argc > 3 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 0;
  if (pes < 1 || pes > 64) {
    fprintf(stderr, "usage: launch -n N PROGRAM ARGUMENTS...\n");
    return 1;
  }
  const int fd = mkstemp(path);
  if (fd < 0) {
    perror(path);
    return 1;
  }
  close(fd);
  for (int pe = 0; pe < pes; ++pe) {
    pids[pe] = fork();
    if (pids[pe] != 0) continue;
    snprintf(told, sizeof told, "%d %d %s", pe, pes, path);
    setenv("SMALL_SHMEM", told, 1);
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    _exit(127);
  }
  for (int left = pes; left > 0; --left) {
    int how = 0;
    if (wait(&how) < 0) break;
    const int status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    if (status > highest && highest == 0) {
      for (int pe = 0; WIFSIGNALED(how) && pe < pes; ++pe) kill(pids[pe], SIGTERM);
      highest = status;
    }
  }
  unlink(path);
  return highest;
}
