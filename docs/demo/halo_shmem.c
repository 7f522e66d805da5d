/* The plate of halo.c with SHMEM: each PE writes its outermost rows into its neighbours' symmetric
 * memory, tells them by a flag, and waits for theirs. It computes the same, and the same PE is
 * late.
 *
 *   kojak run --sample -- oshrun -n 4 ./halo_shmem */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "grid.h"

enum { kSteps = 24 };

static int pe, pes;
static int upper, lower; /* the neighbours, -1 at the edges */
/* What the neighbours have told: rows of how many steps are there, and of how many they have read
 * ours. */
static long rows_from_upper, rows_from_lower, read_by_upper, read_by_lower;
static long psync[SHMEM_REDUCE_SYNC_SIZE];
static long long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], mine[2], total[2];

static int first_row_of(int process) {
  return kRows * process / pes;
}

static int rows_of(int process) {
  return first_row_of(process + 1) - first_row_of(process);
}

static void put_halo(Strip* strip) {
  if (upper >= 0)
    shmem_double_put_nbi(strip_row(strip->cells, rows_of(upper) + 1), strip_row(strip->cells, 1),
                         kColumns, upper);
  if (lower >= 0)
    shmem_double_put_nbi(strip->cells, strip_row(strip->cells, strip->count), kColumns, lower);
}

static void tell(long* upper_hears, long* lower_hears, long step) {
  shmem_quiet(); /* the rows first */
  if (upper >= 0) shmem_long_p(upper_hears, step, upper);
  if (lower >= 0) shmem_long_p(lower_hears, step, lower);
}

static long long steps_with_flags(Strip* strip) {
  long long heat = 0;
  for (long step = 1; step <= kSteps; ++step) {
    if (upper >= 0) shmem_long_wait_until(&read_by_upper, SHMEM_CMP_GE, step - 1);
    if (lower >= 0) shmem_long_wait_until(&read_by_lower, SHMEM_CMP_GE, step - 1);
    put_halo(strip);
    tell(&rows_from_lower, &rows_from_upper, step);
    if (upper >= 0) shmem_long_wait_until(&rows_from_upper, SHMEM_CMP_GE, step);
    if (lower >= 0) shmem_long_wait_until(&rows_from_lower, SHMEM_CMP_GE, step);
    strip_update(strip, 1, strip->count);
    tell(&read_by_lower, &read_by_upper, step);
    strip_advance(strip);
    heat += strip_heat(strip);
  }
  return heat;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
  shmem_init();
  pe = shmem_my_pe();
  pes = shmem_n_pes();
  if (pes < 2 || pes > kRows) {
    if (pe == 0) fprintf(stderr, "needs 2 to %d processes\n", kRows);
    shmem_global_exit(1);
  }
  upper = pe > 0 ? pe - 1 : -1;
  lower = pe < pes - 1 ? pe + 1 : -1;
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;

  /* Of equal size at all PEs: a strip has at most one row more than another. */
  Strip strip = strip_create(first_row_of(pe), rows_of(pe));
  double* const own = strip.cells;
  strip.cells = shmem_calloc((size_t)(kRows / pes + 3) * kColumns, sizeof(double));
  if (strip.cells == NULL) shmem_global_exit(1);
  for (size_t i = 0; i < (size_t)(strip.count + 2) * kColumns; ++i) strip.cells[i] = own[i];
  free(own);
  shmem_barrier_all();

  const double begin = now();
  mine[0] = steps_with_flags(&strip);
  mine[1] = strip_checksum(&strip);
  shmem_longlong_sum_to_all(total, mine, 2, 0, 0, pes, work, psync);
  if (pe == 0) {
    printf("heat %lld, checksum %lld\n", total[0], total[1]);
    printf("%.2f s with puts and flags\n", now() - begin);
    fflush(stdout);
  }
  shmem_free(strip.cells);
  strip.cells = NULL;
  strip_free(&strip);
  shmem_finalize();
  return 0;
}
