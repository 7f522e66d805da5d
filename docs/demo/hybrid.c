/* Heat on a plate, by two kinds of parallelism: each process has rows of the plate, and its threads
 * share them (OpenMP). Neighbours put their outermost rows into each other's memory, between two
 * fences. Further down a row takes more work, and all threads get equally many rows: so the last
 * one is late, its process waits for it, and the other process for that. With -DBALANCED the
 * threads take rows one by one. The result is the same. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 96, kColumns = 512, kSteps = 12 };
static double plate[kRows + 2][kColumns], next[kRows + 2][kColumns];

/* What happens in a place in one step: in the lower rows it must be computed in smaller steps. */
static double react(double heat, int row) {
  for (int i = 0; i < 4 * row; ++i) heat += 1e-6 * (heat * (1 - heat) - 0.1 * heat);
  return heat;
}

static void relax(int first_row) {
#ifdef BALANCED
#pragma omp parallel for schedule(dynamic, 4)
#else
#pragma omp parallel for schedule(static)
#endif
  for (int i = 1; i <= kRows; ++i) {
    for (int j = 1; j < kColumns - 1; ++j) {
      const double mean =
          (plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1]) / 4;
      next[i][j] = react(mean, first_row + i);
    }
  }
}

static void exchange(MPI_Win window, int up, int down) {
  MPI_Win_fence(0, window);
  if (up >= 0)
    MPI_Put(next[1], kColumns, MPI_DOUBLE, up, (kRows + 1) * kColumns, kColumns, MPI_DOUBLE,
            window);
  if (down >= 0) MPI_Put(next[kRows], kColumns, MPI_DOUBLE, down, 0, kColumns, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
}

int main(int argc, char** argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win window;
  MPI_Win_create(plate, sizeof plate, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < kRows + 2; ++i)
    for (int j = 0; j < kColumns; ++j) plate[i][j] = (double)((rank * kRows + i) * 7 % 13) / 13;
  const double begin = MPI_Wtime();
  for (int step = 0; step < kSteps; ++step) {
    relax(rank * kRows);
    exchange(window, rank - 1, rank + 1 < size ? rank + 1 : -1);
    for (int i = 1; i <= kRows; ++i)
      for (int j = 1; j < kColumns - 1; ++j) plate[i][j] = next[i][j];
  }
  double sum = 0, all;
  for (int i = 1; i <= kRows; ++i)
    for (int j = 0; j < kColumns; ++j) sum += plate[i][j];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("heat %.6f\n%.2f s\n", all, MPI_Wtime() - begin);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
