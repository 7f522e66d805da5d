/* Calls of MPI that come through several functions: a loop of puts between fences, and a halo exchange by messages.
 *
 * Usage: call_paths put|halo ROUNDS, with 2 processes or more. Prints the CPU time of rank 0 per MPI call, in nanoseconds.
 * call_paths.py runs it with and without call paths and compares what that costs, up to the report.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN_FUNCTION __attribute__((noinline))

enum { kPuts = 64, kRow = 16 };

static volatile int done;
static int rank, size;
static double row[kRow];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

OWN_FUNCTION static void put_row(MPI_Win win) {
  MPI_Put(row, kRow, MPI_DOUBLE, (rank + 1) % size, 0, kRow, MPI_DOUBLE, win);
  ++done;
}
OWN_FUNCTION static void put_block(MPI_Win win) {
  for (int i = 0; i < kPuts; ++i) put_row(win);
  ++done;
}
OWN_FUNCTION static void put_step(MPI_Win win) {
  put_block(win);
  MPI_Win_fence(0, win);
}
OWN_FUNCTION static long put_all(long rounds) {
  double* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof row, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  for (long i = 0; i < rounds; ++i) put_step(win);
  MPI_Win_free(&win);
  return rounds * (kPuts + 1);
}

OWN_FUNCTION static void post(MPI_Request* requests, double* halo) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Irecv(halo, kRow, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(halo + kRow, kRow, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row, kRow, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row, kRow, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
}
OWN_FUNCTION static void exchange(double* halo) {
  MPI_Request requests[4];
  post(requests, halo);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
OWN_FUNCTION static void halo_step(void) {
  static double halo[2 * kRow];
  exchange(halo);
  ++done;
}
OWN_FUNCTION static long halo_all(long rounds) {
  for (long i = 0; i < rounds; ++i) halo_step();
  return rounds * 5;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long rounds = argc > 2 ? atol(argv[2]) : 1000;
  const double begin = now();
  const long calls = argc > 1 && strcmp(argv[1], "halo") == 0 ? halo_all(rounds) : put_all(rounds);
  if (rank == 0) printf("%.1f\n", (now() - begin) / (double)calls);
  MPI_Finalize();
  return 0;
}
