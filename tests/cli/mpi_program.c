/* A small MPI program for the tests of kojak run: puts with fences, then ends in the way asked for:
 * exit N, kill N (a signal to itself), wait (until it is interrupted), spawn (another of itself), abort N (rank 1),
 * until FILE (is there; before MPI_Init), late MS (rank 1 comes to the barrier), system COMMAND (rank 0), names (regions
 * with names that a terminal or a spreadsheet would obey), and of rank 1: remove FOLDER, limit BYTES (of files),
 * files N (as many may be open). */
#include <elg_user.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory of the window. Not on the stack: MPICH 4.0.2 was seen to put beside a window of 4 bytes there. */
static int value[16] __attribute__((aligned(64)));

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm parent;
  MPI_Win window;
  const char* const mode = argc > 2 ? argv[1] : "";
  while (strcmp(mode, "until") == 0 && access(argv[2], F_OK) != 0) usleep(10000);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  if (size > 1) { /* Open MPI has no window over a single process */
    MPI_Win_create(value, sizeof value, sizeof *value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  if (rank == 0 && parent == MPI_COMM_NULL) {
    printf("the sum is %d\n", size * (size - 1) / 2);
    fflush(stdout);
  }
  if (argc > 1 && strcmp(argv[1], "spawn") == 0 && parent == MPI_COMM_NULL) {
    MPI_Comm children;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  }
  if (strcmp(mode, "late") == 0 && rank == 1) usleep((useconds_t)atoi(argv[2]) * 1000);
  if (strcmp(mode, "system") == 0 && rank == 0 && system(argv[2]) != 0) return 7;
  if (strcmp(mode, "remove") == 0 && rank == 1) {
    char command[4200];
    snprintf(command, sizeof command, "rm -r %s", argv[2]);
    if (system(command) != 0) return 7;
  }
  if (strcmp(mode, "limit") == 0 && rank == 1) {
    const struct rlimit limit = {(rlim_t)atol(argv[2]), (rlim_t)atol(argv[2])};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (strcmp(mode, "files") == 0 && rank == 1) {
    const struct rlimit limit = {(rlim_t)atol(argv[2]), (rlim_t)atol(argv[2])};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (argc > 1 && strcmp(argv[1], "names") == 0) {
    const char* const names[] = {"red\033[31m",   "c1\302\233" "31m", "turned\342\200\256",
                                 "=1+1", "@sum", "+f(1)", "-f(1)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
      ELG_USER_START(names[i]);
      if (rank == 1) usleep(50000);
      MPI_Barrier(MPI_COMM_WORLD);
      ELG_USER_END(names[i]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
  if (strcmp(mode, "abort") == 0) sleep(100);
  if (argc > 2 && strcmp(argv[1], "kill") == 0) raise(atoi(argv[2]));
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    if (argc > 2 && rank == 0) fclose(fopen(argv[2], "w")); /* tells that it waits now */
    sleep(100);
  }
  MPI_Finalize();
  return argc > 2 && strcmp(argv[1], "exit") == 0 ? atoi(argv[2]) : 0;
}
