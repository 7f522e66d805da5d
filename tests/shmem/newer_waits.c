/* Waits in what OpenSHMEM 1.5 brought: for signals and several variables, in teams. */
#include "timed.h"

static uint64_t signal_word;
static long data[64], more[64], pair[2];
static int flags[4], numbers[4], sums[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_team_t team;
  for (int i = 0; i < 4; ++i) numbers[i] = me;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
  TIMED("barrier", shmem_barrier_all());

  if (me == 0) {
    const long value = 3;
    late(0.12);
    TIMED("signal", shmem_long_put_signal(data, &value, 1, &signal_word, 7, SHMEM_SIGNAL_SET, 1));
    late(0.08);
    TIMED("write_any", shmem_int_p(&flags[1], 4, 1));
    late(0.05);
    shmem_long_p(&pair[0], 1, 1);
    late(0.04);
    TIMED("write_last", shmem_long_p(&pair[1], 2, 1));
    shmem_quiet();
  } else if (me == 1) {
    long values[] = {1, 2};
    TIMED("signal_wait", shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 7));
    TIMED("wait_any", shmem_int_wait_until_any(flags, 3, NULL, SHMEM_CMP_GT, 3));
    TIMED("wait_vector", shmem_long_wait_until_all_vector(pair, 2, NULL, SHMEM_CMP_EQ, values));
  }
  TIMED("barrier", shmem_barrier_all());

  if (me < 2) {
    if (me == 1) late(0.06);
    TIMED("team_sync", shmem_team_sync(team));
    if (me == 0) late(0.07);
    TIMED("team_broadcast", shmem_long_broadcast(team, more, data, 2, 0));
    if (me == 1) late(0.05);
    TIMED("team_reduce", shmem_int_sum_reduce(team, sums, numbers, 1));
  }
  void* block = NULL;
  if (me == 0) late(0.05);
  TIMED("hints", block = shmem_malloc_with_hints(64, 0));
  shmem_free(block);
  TIMED("barrier", shmem_barrier_all());
  if (me < 2) shmem_team_destroy(team);

  print_calls(me);
  const int good = me >= 2 || sums[0] == 1;
  shmem_finalize();
  return n >= 2 && good ? 0 : 1;
}
