/* Waits of every kind that SHMEM programs have, one after the other. */
#include "timed.h"

static long flag, lock, sum, part, psync[SHMEM_REDUCE_SYNC_SIZE],
    psync_bcast[SHMEM_BCAST_SYNC_SIZE];
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], data[1024], counter;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) psync_bcast[i] = SHMEM_SYNC_VALUE;
  part = me;
  TIMED("barrier", shmem_barrier_all());

  if (me == 0) late(0.1);
  TIMED("barrier", shmem_barrier_all());

  if (me == n - 1) late(0.06);
  TIMED("reduce", shmem_long_sum_to_all(&sum, &part, 1, 0, 0, n, work, psync));

  if (me == 0) late(0.08);
  TIMED("broadcast", shmem_broadcast64(data, data + 512, 1, 0, 0, 0, n, psync_bcast));

  long* block = NULL;
  if (me == 0) late(0.05);
  TIMED("malloc", block = shmem_malloc(64));
  TIMED("free", shmem_free(block));

  TIMED("barrier", shmem_barrier_all());
  if (me == 0) {
    late(0.12);
    TIMED("write", shmem_long_p(&flag, 1, 1));
    shmem_quiet();
  } else if (me == 1) {
    TIMED("wait", shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1));
  }

  if (me == 0) TIMED("hold", shmem_set_lock(&lock));
  TIMED("barrier", shmem_barrier_all());
  if (me == 0) {
    late(0.15);
    TIMED("release", shmem_clear_lock(&lock));
  } else if (me == 1) {
    TIMED("lock", shmem_set_lock(&lock));
    shmem_clear_lock(&lock);
  }

  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.1);
  if (me == 0) {
    late(0.02); /* the other has left the barrier */
    TIMED("get", shmem_getmem(data, data + 512, 8, 1));
  }
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.07);
  if (me == 0) {
    late(0.02);
    TIMED("atomic", shmem_long_atomic_fetch_add(&counter, 1, 1));
  }
  TIMED("barrier", shmem_barrier_all());

  print_calls(me);
  shmem_finalize();
  return sum == (long)n * (n - 1) / 2 ? 0 : 1;
}
