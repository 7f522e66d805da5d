/* How each process of an MPI program ends: note_status PREFIX PROGRAM [ARGUMENT ...].
 *
 * Runs the program, writes "exit N" or "signal N" into PREFIX.RANK, and ends the same way. Where several processes die,
 * the status that a launcher gives is a race between them; what it saw of one process is not.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* rank = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", argv[1], rank != NULL ? rank : "0");
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the launcher kills us, nobody else knows of the program */
    execvp(argv[2], argv + 2);
    _Exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  FILE* file = fopen(path, "w");
  if (file == NULL) return 2;
  fprintf(file, WIFSIGNALED(status) ? "signal %d\n" : "exit %d\n",
          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  fclose(file);
  if (!WIFSIGNALED(status)) _Exit(WEXITSTATUS(status));
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 2;
}
