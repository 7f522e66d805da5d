/* halo.c after a look at kojak's report. What was found, and what was done about it:
 *
 * - Wait at Fence, everywhere but on the process that has the hot rows: equal numbers of rows are
 * not equal work. The rows are shared out by their cost.
 * - Late Post: a process exposed its window only when all its work was done. The ghost rows are
 * free as soon as the outermost rows have been computed from them: these come first now, and the
 * window is exposed before the rest.
 * - Late Complete: the heat was added up between the puts and MPI_Win_complete, while the neighbour
 *   waited for the latter. Complete now follows the last put, the work comes after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"

enum { kSteps = 12 };

static int rank, ranks;
static int upper, lower; /* the neighbours, MPI_PROC_NULL at the edges */

/* Everybody gets rows of the same total cost, and at least one. */
static int first_row_of(int process) {
  int total = 0;
  for (int row = 0; row < kRows; ++row) total += row_cost(row);
  int row = 0;
  for (int cost = 0; row < kRows && cost * ranks < total * process; ++row) cost += row_cost(row);
  if (row < process) row = process;
  const int last = kRows - (ranks - process);
  return row < last ? row : last;
}

static int rows_of(int process) {
  return first_row_of(process + 1) - first_row_of(process);
}

/* Puts the outermost rows of `rows` into the neighbours' ghost rows. */
static void put_halo(double* rows, int count, MPI_Win win) {
  if (upper != MPI_PROC_NULL)
    MPI_Put(strip_row(rows, 1), kColumns, MPI_DOUBLE, upper,
            (MPI_Aint)(rows_of(upper) + 1) * kColumns, kColumns, MPI_DOUBLE, win);
  if (lower != MPI_PROC_NULL)
    MPI_Put(strip_row(rows, count), kColumns, MPI_DOUBLE, lower, 0, kColumns, MPI_DOUBLE, win);
}

static long long steps_with_fences(Strip* strip, MPI_Win win) {
  long long heat = 0;
  for (int step = 0; step < kSteps; ++step) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    put_halo(strip->cells, strip->count, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    strip_update(strip, 1, strip->count);
    strip_advance(strip);
    heat += strip_heat(strip);
  }
  return heat;
}

/* Opens and closes the access epoch around nothing but the puts. */
static void send_halo(double* rows, int count, MPI_Win win, MPI_Group neighbours) {
  MPI_Win_start(neighbours, 0, win);
  put_halo(rows, count, win);
  MPI_Win_complete(win);
}

/* While the neighbours put into the ghost rows, the rows between are computed and stored: MPI
 * allows that in its unified memory model, which all of today's machines have. */
static long long steps_with_groups(Strip* strip, MPI_Win win, MPI_Group neighbours) {
  long long heat = 0;
  MPI_Win_post(neighbours, 0, win);
  send_halo(strip->cells, strip->count, win, neighbours);
  for (int step = 0; step < kSteps; ++step) {
    MPI_Win_wait(win);
    strip_update(strip, 1, 1);
    if (strip->count > 1) strip_update(strip, strip->count, strip->count);
    if (step + 1 < kSteps) {
      MPI_Win_post(neighbours, 0, win);
      send_halo(strip->next, strip->count, win, neighbours);
    }
    strip_update(strip, 2, strip->count - 1);
    strip_advance(strip);
    heat += strip_heat(strip);
  }
  return heat;
}

static MPI_Group neighbours_of(MPI_Comm comm) {
  int list[2];
  int count = 0;
  if (upper != MPI_PROC_NULL) list[count++] = upper;
  if (lower != MPI_PROC_NULL) list[count++] = lower;
  MPI_Group all;
  MPI_Group neighbours;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, count, list, &neighbours);
  MPI_Group_free(&all);
  return neighbours;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || ranks > kRows) {
    if (rank == 0) fprintf(stderr, "needs 2 to %d processes\n", kRows);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  upper = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  lower = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  Strip strip = strip_create(first_row_of(rank), rows_of(rank));
  MPI_Win win;
  MPI_Win_create(strip.cells, (MPI_Aint)(strip.count + 2) * kColumns * (MPI_Aint)sizeof(double),
                 sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Group neighbours = neighbours_of(MPI_COMM_WORLD);

  const double begin = MPI_Wtime();
  long long mine[2] = {steps_with_fences(&strip, win), 0};
  const double middle = MPI_Wtime();
  mine[0] += steps_with_groups(&strip, win, neighbours);
  const double end = MPI_Wtime();

  mine[1] = strip_checksum(&strip);
  long long total[2] = {0, 0};
  MPI_Reduce(mine, total, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("heat %lld, checksum %lld\n", total[0], total[1]);
    printf("%.2f s with fences, %.2f s with post, start, complete, wait\n", middle - begin,
           end - middle);
  }
  MPI_Group_free(&neighbours);
  MPI_Win_free(&win);
  strip_free(&strip);
  MPI_Finalize();
  return 0;
}
