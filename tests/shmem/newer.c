/* What OpenSHMEM 1.5 brought: signals, teams and their contexts and collective operations, waits
   for several variables, atomic operations that return at once; and what the trace must show of it
   (expect.h). For an even number of PEs, of which every two are a node. */
#include <string.h>

#include "expect.h"

enum { kSignal = 4, kTimes = 3 };
static long from[8], to[64], counter, old[4];
static uint64_t signals[4];
static int flags[8], numbers[8], sums[8];
static int next, before;

static void expect_signal(const char* function, int pe, size_t bytes, const volatile void* at,
                          const uint64_t* signal, int context, int how) {
  expect("%s", function);
  expect_transfer("put", pe, bytes, at, context, how);
  expect_transfer("put", pe, sizeof *signal, signal, context, how | kSignal);
  expect("\n");
}
static void expect_set(const char* function, int root, int first, int stride, int size, size_t sent,
                       size_t received) {
  char text[16] = "-";
  if (root >= 0) snprintf(text, sizeof text, "%d", root);
  expect("%s coll:%s:%d,%d,%d:%zu:%zu\n", function, text, first, size > 1 ? stride : 1, size, sent,
         received);
}
static void expect_found(const volatile void* at, size_t bytes, int cmp, long value) {
  expect(" found:%s:%zu:%d:%ld", place(at), bytes, cmp, value);
}

static void signal_puts(void) {
  shmem_ctx_t context;
  check(shmem_ctx_create(0, &context) == 0, "shmem_ctx_create");
  shmem_long_put_signal(to, from, 3, &signals[0], 7, SHMEM_SIGNAL_SET, next);
  expect_signal("shmem_long_put_signal", next, 3 * sizeof(long), to, &signals[0], 0, 0);
  check(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 7) == 7, "shmem_signal_wait_until");
  expect("shmem_signal_wait_until");
  expect_found(&signals[0], 8, 1, 7);
  expect("\n");
  check(to[2] == 10 * before + 2, "put with a signal");
  shmem_putmem_signal_nbi(to + 8, from, 5, &signals[1], 2, SHMEM_SIGNAL_ADD, next);
  expect_signal("shmem_putmem_signal_nbi", next, 5, to + 8, &signals[1], 0, 1);
  shmem_ctx_put32_signal(context, to + 9, from, 3, &signals[1], 3, SHMEM_SIGNAL_ADD, next);
  expect_signal("shmem_ctx_put32_signal", next, 12, to + 9, &signals[1], 1, 0);
  check(shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, 5) == 5, "two signals");
  expect("shmem_signal_wait_until");
  expect_found(&signals[1], 8, 4, 5);
  expect("\n");
  check(shmem_signal_fetch(&signals[1]) == 5, "shmem_signal_fetch");
  shmem_ctx_destroy(context);
  expect("shmem_ctx_destroy quiet:1\n");
  barrier();
}

static void several_variables(void) {
  const int status[] = {1, 0};
  size_t places[4] = {9, 9, 9, 9};
  int values[] = {1, 2, 3};
  for (int i = 0; i < 5; ++i) {
    shmem_int_p(&flags[i], i + 1, next);
    expect_put("shmem_int_p", next, sizeof(int), &flags[i], 0, 0);
  }
  shmem_int_wait_until_all(flags, 3, NULL, SHMEM_CMP_GE, 1);
  expect("shmem_int_wait_until_all");
  for (int i = 0; i < 3; ++i) expect_found(&flags[i], sizeof(int), 4, 1);
  expect("\n");
  check(shmem_int_wait_until_any(flags + 3, 2, status, SHMEM_CMP_EQ, 5) == 1, "wait_until_any");
  expect("shmem_int_wait_until_any");
  expect_found(&flags[4], sizeof(int), 1, 5);
  expect("\n");
  barrier();
  check(shmem_int_wait_until_some(flags, 3, places, NULL, SHMEM_CMP_NE, 2) == 2 && places[1] == 2,
        "wait_until_some");
  expect("shmem_int_wait_until_some");
  expect_found(&flags[0], sizeof(int), 2, 2);
  expect_found(&flags[2], sizeof(int), 2, 2);
  expect("\n");
  shmem_int_wait_until_all_vector(flags, 3, NULL, SHMEM_CMP_EQ, values);
  expect("shmem_int_wait_until_all_vector");
  for (int i = 0; i < 3; ++i) expect_found(&flags[i], sizeof(int), 1, values[i]);
  expect("\n");
  check(shmem_int_wait_until_any_vector(flags + 1, 2, NULL, SHMEM_CMP_LE, values + 1) == 0,
        "wait_until_any_vector");
  expect("shmem_int_wait_until_any_vector");
  expect_found(&flags[1], sizeof(int), 6, 2);
  expect("\n");
  check(shmem_int_test_all(flags, 3, NULL, SHMEM_CMP_LT, 4) == 1, "test_all");
  expect("shmem_int_test_all");
  for (int i = 0; i < 3; ++i) expect_found(&flags[i], sizeof(int), 5, 4);
  expect("\n");
  check(shmem_int_test_any(flags, 3, NULL, SHMEM_CMP_GT, 2) == 2, "test_any");
  expect("shmem_int_test_any");
  expect_found(&flags[2], sizeof(int), 3, 2);
  expect("\n");
  check(shmem_int_test_some_vector(flags, 3, places, NULL, SHMEM_CMP_GT, values) == 0, "test_some");
  expect("shmem_int_test_some_vector\n");
}

static void atomics(void) {
  shmem_long_atomic_fetch_add_nbi(&old[0], &counter, 5, next);
  expect("shmem_long_atomic_fetch_add_nbi");
  expect_transfer("get", next, sizeof(long), &counter, 0, 3);
  expect_transfer("put", next, sizeof(long), &counter, 0, 3);
  expect("\n");
  shmem_quiet();
  expect("shmem_quiet quiet:0\n");
  barrier();
  shmem_long_atomic_fetch_nbi(&old[1], &counter, next);
  expect_get("shmem_long_atomic_fetch_nbi", next, sizeof(long), &counter, 0, 3);
  shmem_quiet();
  expect("shmem_quiet quiet:0\n");
  check(old[0] == 0 && old[1] == 5 && counter == 5, "atomic operations that return at once");
}

/* On every second PE. */
static void one_team(void) {
  const int size = pes / 2, last = 2 * (size - 1);
  const size_t bytes = 2 * sizeof(long);
  shmem_team_t team;
  shmem_ctx_t context;
  check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, size, NULL, 0, &team) == 0, "split");
  expect_set("shmem_team_split_strided", -1, 0, 1, pes, 0, 0);
  if (me % 2 != 0) return;
  check(shmem_team_n_pes(team) == size && shmem_team_my_pe(team) == me / 2, "the team");
  for (int i = 0; i < kTimes; ++i) {
    shmem_team_sync(team);
    expect_set("shmem_team_sync", -1, 0, 2, size, 0, 0);
  }
  shmem_long_broadcast(team, to + 16, from, 2, size - 1);
  expect_set("shmem_long_broadcast", last, 0, 2, size, me == last ? bytes : 0,
             me == last ? 0 : bytes);
  check(to[17] == 10 * last + 1, "shmem_long_broadcast");
  shmem_long_fcollect(team, to + 16, from, 2);
  expect_set("shmem_long_fcollect", -1, 0, 2, size, bytes, bytes * (size_t)size);
  check(to[16 + me] == 10 * me, "shmem_long_fcollect");
  shmem_collectmem(team, to + 16, from, 2 * sizeof(long));
  expect_set("shmem_collectmem", -1, 0, 2, size, bytes, bytes * (size_t)size);
  shmem_long_alltoall(team, to + 16, from, 1);
  expect_set("shmem_long_alltoall", -1, 0, 2, size, sizeof(long) * (size_t)size,
             sizeof(long) * (size_t)size);
  shmem_int_sum_reduce(team, sums, numbers, 3);
  expect_set("shmem_int_sum_reduce", -1, 0, 2, size, 3 * sizeof(int), 3 * sizeof(int));
  check(sums[0] == size * (size - 1), "shmem_int_sum_reduce"); /* 0 + 2 + 4 ... */
  check(shmem_team_create_ctx(team, 0, &context) == 0, "shmem_team_create_ctx");
  shmem_ctx_long_p(context, to + 40, 4, size - 1);
  expect_put("shmem_ctx_long_p", last, sizeof(long), to + 40, 2, 0);
  shmem_ctx_quiet(context);
  expect("shmem_ctx_quiet quiet:2\n");
  shmem_ctx_destroy(context);
  expect("shmem_ctx_destroy quiet:2\n");
  shmem_team_destroy(team);
  expect_set("shmem_team_destroy", -1, 0, 2, size, 0, 0);
}

static void more_teams(void) {
  shmem_team_t row, column;
  shmem_team_sync(SHMEM_TEAM_WORLD);
  expect_set("shmem_team_sync", -1, 0, 1, pes, 0, 0);
  shmem_team_sync(SHMEM_TEAM_SHARED);
  expect_set("shmem_team_sync", -1, me & ~1, 1, 2, 0, 0);
  check(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) == 0, "split_2d");
  expect_set("shmem_team_split_2d", -1, 0, 1, pes, 0, 0);
  shmem_team_sync(row);
  expect_set("shmem_team_sync", -1, me & ~1, 1, 2, 0, 0);
  shmem_team_sync(column);
  expect_set("shmem_team_sync", -1, me % 2, 2, pes / 2, 0, 0);
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
  begin_expecting();
  expect("shmem_init_thread\n");
  next = (me + 1) % pes;
  before = (me + pes - 1) % pes;
  for (int i = 0; i < 8; ++i) from[i] = 10 * me + i;
  for (int i = 0; i < 8; ++i) numbers[i] = me;
  barrier();
  signal_puts();
  several_variables();
  barrier();
  atomics();
  one_team();
  more_teams();
  first_block = shmem_malloc_with_hints(64, SHMEM_MALLOC_SIGNAL_REMOTE);
  expect_together("shmem_malloc_with_hints", 1);
  shmem_long_p((long*)first_block + 1, 1, next);
  expect_put("shmem_long_p", next, sizeof(long), first_block + sizeof(long), 0, 0);
  shmem_free((void*)first_block);
  expect_together("shmem_free", 1);
  printf("PE %d of %d: %d wrong results\n", me, pes, wrong_results);
  fflush(stdout);
  expect("shmem_finalize quiet:all");
  expect_set("", -1, 0, 1, pes, 0, 0);
  end_expecting();
  shmem_finalize();
  return wrong_results != 0;
}
