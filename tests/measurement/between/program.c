/* What a program computes and how long it waits, with or without a library between it and MPI.
 *
 * It prints its ranks as MPI_COMM_WORLD has them, and what it received. Its rank 0 is late to a fence and to a message,
 * its rank 1 to a barrier. Each process notes when it came to each of these, in times.RANK, RANK being that of the
 * launcher: "name seconds". With OWN=1 barrier and message are on a communicator that it made.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE* times;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static void work(long ms) {
  nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}
static void note(const char* what) {
  fprintf(times, "%s %.9f\n", what, now());
}

#ifndef MAIN
#define MAIN main
#endif
int MAIN(int argc, char** argv) {
  const char* launched = getenv("OMPI_COMM_WORLD_RANK");
  if (launched == NULL) launched = getenv("PMI_RANK");
  char name[64];
  snprintf(name, sizeof name, "times.%s", launched != NULL ? launched : "0");
  times = fopen(name, "w");
  if (times == NULL) return 1;

  int rank, size, got = -1;
  double x = 0;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (getenv("OWN") != NULL) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_fence(0, win);
  if (rank == 0) work(200);
  note("fence");
  MPI_Win_fence(0, win);
  if (rank == 1) work(100);
  note("barrier");
  MPI_Barrier(comm);
  if (rank == 0) work(150);
  note("message");
  if (rank == 0) MPI_Ssend(&size, 1, MPI_INT, size - 1, 5, comm);
  if (rank == size - 1) MPI_Recv(&got, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
  MPI_Win_free(&win);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  char line[64];  /* at once: those of several processes do not mix */
  const int length = snprintf(line, sizeof line, "%d of %d got %d\n", rank, size, got);
  const ssize_t written = write(STDOUT_FILENO, line, (size_t)length);
  (void)written;
  fclose(times);
  return MPI_Finalize();
}
