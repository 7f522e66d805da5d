/* Waits in the other functions of each family: on some PEs only, notified by any kind of write, for
   the progress of a PE that computes. */
#include "timed.h"

enum { kSync = 64 }; /* no operation's array is longer */
static long from[64], to[256],
    sync_of[8][kSync + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE];
static double largest, mine, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int flags[8];
static long variable;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const int stride = n > 2 ? 1 : 0, other = n / 2; /* the set: PEs 0 and `other` */
  for (unsigned i = 0; i < sizeof sync_of / sizeof(long); ++i)
    ((long*)sync_of)[i] = SHMEM_SYNC_VALUE;
  mine = me;
  TIMED("barrier", shmem_barrier_all());

  /* Collective calls, on two PEs and on all; each time somebody else is late. */
  if (me == 0 || me == other) {
    if (me == other) late(0.06);
    TIMED("set_barrier", shmem_barrier(0, stride, 2, sync_of[0]));
    if (me == other) late(0.05);
    if (me == other) {
      TIMED("set_root", shmem_broadcast32(to, from, 4, 1, 0, stride, 2, sync_of[1]));
    } else {
      TIMED("set_broadcast", shmem_broadcast32(to, from, 4, 1, 0, stride, 2, sync_of[1]));
    }
  }
  if (me == 0) late(0.05);
  TIMED("sync", shmem_sync_all());
  if (me == n - 1) late(0.04);
  TIMED("collect", shmem_collect64(to, from, (size_t)me + 1, 0, 0, n, sync_of[2]));
  if (me == 0) late(0.06);
  TIMED("fcollect", shmem_fcollect64(to, from, 2, 0, 0, n, sync_of[3]));
  if (me == 1) late(0.05);
  TIMED("alltoall", shmem_alltoall32(to, from, 1, 0, 0, n, sync_of[4]));
  if (me == 0) late(0.04);
  TIMED("max", shmem_double_max_to_all(&largest, &mine, 1, 0, 0, n, work, sync_of[5]));
  void* block = NULL;
  if (me == 1) late(0.05);
  TIMED("align", block = shmem_align(64, 64));
  if (me == 0) late(0.04);
  TIMED("realloc", block = shmem_realloc(block, 256));
  shmem_free(block);

  /* PE 1 waits for what PE 0 writes, by one kind of write after the other. */
  TIMED("barrier", shmem_barrier_all());
  if (me == 0) {
    const int one = 1;
    late(0.05);
    TIMED("write_0", shmem_int_put(&flags[0], &one, 1, 1));
    late(0.05);
    TIMED("write_1", shmem_int_atomic_add(&flags[1], 1, 1));
    late(0.05);
    TIMED("write_2", shmem_int_atomic_set(&flags[2], 1, 1));
    late(0.05);
    TIMED("write_3", shmem_int_atomic_swap(&flags[3], 1, 1));
    late(0.05);
    TIMED("write_4", shmem_int_iput(&flags[4], &one, 1, 1, 1, 1));
    late(0.05);
    TIMED("write_5", shmem_putmem_nbi(&flags[5], &one, sizeof one, 1));
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT); /* not shmem_quiet, whose waits are compared */
  } else if (me == 1) {
    TIMED("wait_0", shmem_int_wait_until(&flags[0], SHMEM_CMP_EQ, 1));
    TIMED("wait_1", shmem_int_wait_until(&flags[1], SHMEM_CMP_NE, 0));
    TIMED("wait_2", shmem_int_wait_until(&flags[2], SHMEM_CMP_GT, 0));
    TIMED("wait_3", shmem_int_wait_until(&flags[3], SHMEM_CMP_GE, 1));
    TIMED("wait_4", shmem_int_wait(&flags[4], 0));
    TIMED("wait_5", shmem_int_wait_until(&flags[5], SHMEM_CMP_LE, 1)); /* is so already: no wait */
  }

  /* PE 0 needs PE 1, which computes. */
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) return 1;
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.07);
  if (me == 0) {
    late(0.02); /* the other has left the barrier */
    TIMED("iget", shmem_long_iget(to, from, 1, 2, 3, 1));
  }
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.06);
  if (me == 0) {
    late(0.02);
    TIMED("ctx_get", shmem_ctx_getmem(context, to, from, 64, 1));
  }
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.07);
  if (me == 0) {
    late(0.02);
    TIMED("swap", shmem_long_atomic_swap(&variable, 7, 1));
  }
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) late(0.08);
  if (me == 0) {
    late(0.02);
    shmem_putmem_nbi(to, from, 512, 1);
    TIMED("quiet", shmem_quiet());
  }
  TIMED("barrier", shmem_barrier_all());
  shmem_ctx_destroy(context);

  print_calls(me);
  const int good = largest == n - 1 && (me != 1 || variable == 7);
  shmem_finalize();
  return good ? 0 : 1;
}
