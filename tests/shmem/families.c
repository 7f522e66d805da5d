/* What SHMEM programs do with each family of functions, on two PEs and more, and what the trace
   must show of it (expect.h): what completes what in contexts, calls on some PEs only, waits and
   tests that find a value, atomic operations of all PEs on one variable, strided and non-blocking
   transfers, a lock that all want. Results are checked. */
#include <string.h>
#include <unistd.h>

#include "expect.h"

/* Open MPI 5 gives the name to teams. */
#if defined(shmem_sync)
#define ACTIVE_SET_SYNC "shmem_sync_deprecated"
#else
#define ACTIVE_SET_SYNC "shmem_sync"
#endif

enum { kMost = 16, kTimes = 5 };
static long from[8 * kMost], to[8 * kMost], results[8 * kMost], counter, bits, flag, answer, lock,
    guarded;
static long psync[4][SHMEM_ALLTOALLS_SYNC_SIZE > SHMEM_COLLECT_SYNC_SIZE ? SHMEM_ALLTOALLS_SYNC_SIZE
                                                                         : SHMEM_COLLECT_SYNC_SIZE];
static long reduce_sync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int next, before;

static void long_p(long* at, long value, int pe) {
  shmem_long_p(at, value, pe);
  expect_put("shmem_long_p", pe, sizeof(long), at, 0, 0);
}

/* Open MPI's tests make no progress: in a loop of these alone the others' operations would never
 * end. */
static void progress(void) {
  usleep(1000);
  check(shmem_long_g(from + 1, next) == 100 * next + 1, "g");
  expect_get("shmem_long_g", next, sizeof(long), from + 1, 0, 0);
}

/* Each context completes its own, the default one too; a fence completes nothing; the end of a
 * context completes it. */
static void contexts(void) {
  shmem_ctx_t one, two;
  check(shmem_ctx_create(0, &one) == 0 && shmem_ctx_create(SHMEM_CTX_SERIALIZED, &two) == 0,
        "shmem_ctx_create");
  shmem_ctx_long_put_nbi(one, to, from, 2, next);
  expect_put("shmem_ctx_long_put_nbi", next, 2 * sizeof(long), to, 1, 1);
  shmem_ctx_long_put_nbi(two, to + 2, from + 2, 3, next);
  expect_put("shmem_ctx_long_put_nbi", next, 3 * sizeof(long), to + 2, 2, 1);
  shmem_long_put_nbi(to + 5, from + 5, 1, next);
  expect_put("shmem_long_put_nbi", next, sizeof(long), to + 5, 0, 1);
  shmem_ctx_fence(one);
  shmem_fence();
  expect("shmem_ctx_fence\nshmem_fence\n");
  shmem_ctx_long_p(two, to + 6, 6, next);
  expect_put("shmem_ctx_long_p", next, sizeof(long), to + 6, 2, 0);
  shmem_ctx_quiet(one);
  expect("shmem_ctx_quiet quiet:1\n");
  shmem_ctx_long_get_nbi(one, results, from, 2, next);
  expect_get("shmem_ctx_long_get_nbi", next, 2 * sizeof(long), from, 1, 1);
  barrier(); /* of the default context only */
  shmem_ctx_quiet(two);
  expect("shmem_ctx_quiet quiet:2\n");
  shmem_ctx_destroy(one);
  expect("shmem_ctx_destroy quiet:1\n");
  shmem_ctx_long_get(two, results + 2, from + 2, 1, next);
  expect_get("shmem_ctx_long_get", next, sizeof(long), from + 2, 2, 0);
  shmem_ctx_destroy(two);
  expect("shmem_ctx_destroy quiet:2\n");
  check(shmem_ctx_create(0, &one) == 0, "shmem_ctx_create");
  shmem_ctx_long_p(one, to + 7, 7, next); /* whatever its handle: a context of its own */
  expect_put("shmem_ctx_long_p", next, sizeof(long), to + 7, 3, 0);
  shmem_ctx_destroy(one);
  expect("shmem_ctx_destroy quiet:3\n");
  barrier();
  for (int i = 0; i < 6; ++i) check(to[i] == 100 * before + i, "puts in contexts");
  check(to[6] == 6 && to[7] == 7, "p in contexts");
  for (int i = 0; i < 3; ++i) check(results[i] == 100 * next + i, "gets in contexts");
}

/* Active sets: every second PE from 0 on, and the others; the upper half. */
static void sets(void) {
  const int start = me % 2, size = pes / 2;
  shmem_barrier(start, 1, size, psync[0]);
  expect("shmem_barrier quiet:0 coll:-:%d,%d,%d:0:0\n", start, size > 1 ? 2 : 1, size);
  shmem_sync(start, 1, size, psync[1]);
  expect(ACTIVE_SET_SYNC " coll:-:%d,%d,%d:0:0\n", start, size > 1 ? 2 : 1, size);
  memset(results, 0, sizeof results);
  const int root = size - 1, root_pe = start + 2 * root;
  shmem_broadcast64(results, from, 2, root, start, 1, size, psync[2]);
  expect("shmem_broadcast64 coll:%d:%d,%d,%d:%d:%d\n", root_pe, start, size > 1 ? 2 : 1, size,
         me == root_pe ? 16 : 0, me == root_pe ? 0 : 16);
  if (me != root_pe)
    check(results[0] == 100 * root_pe && results[1] == 100 * root_pe + 1, "broadcast on a set");
  if (me >= pes / 2) {
    shmem_long_sum_to_all(results + 4, from + 1, 1, pes / 2, 0, pes - pes / 2, work, reduce_sync);
    expect("shmem_long_sum_to_all coll:-:%d,1,%d:8:8\n", pes / 2, pes - pes / 2);
    long sum = 0;
    for (int i = pes / 2; i < pes; ++i) sum += 100 * i + 1;
    check(results[4] == sum, "sum on a set");
  }
  barrier();
  shmem_alltoall64(to, from, 1, 0, 0, pes, psync[3]);
  expect("shmem_alltoall64 coll:-:0,1,%d:%d:%d\n", pes, 8 * pes, 8 * pes);
  for (int i = 0; i < pes; ++i) check(to[i] == 100 * i + me, "alltoall");
  barrier();
  shmem_collect64(to, from, (size_t)me + 1, 0, 0, pes, psync[0]); /* each of another size */
  /* What the others give is not known here: as much as this one (docs/format.md). */
  expect("shmem_collect64 coll:-:0,1,%d:%d:%d\n", pes, 8 * (me + 1), 8 * (me + 1) * pes);
  for (int i = 0, at = 0; i < pes; ++i) {
    for (int k = 0; k <= i; ++k) check(to[at++] == 100 * i + k, "collect");
  }
  barrier();
}

/* One PE after the other gets a number, and passes it on. */
static void ring(void) {
  for (long turn = 1; turn <= kTimes; ++turn) {
    if (me == 0) long_p(&flag, turn, next);
    shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn);
    expect("shmem_long_wait_until found:%s:8:4:%ld\n", place(&flag), turn);
    if (me != 0) long_p(&flag, turn, next);
  }
  barrier();
  if (me == 0) {
    usleep(20000);
    long_p(&answer, 42, 1);
  } else if (me == 1) {
    while (!shmem_long_test(&answer, SHMEM_CMP_EQ, 42)) {
      expect("shmem_long_test\n");
      progress();
    }
    expect("shmem_long_test found:%s:8:1:42\n", place(&answer));
  }
  barrier();
}

static void atomics(void) {
  long last = -1;
  for (int i = 0; i < kTimes; ++i) {
    shmem_long_atomic_inc(&counter, 0);
    expect_put("shmem_long_atomic_inc", 0, sizeof(long), &counter, 0, 2);
    const long old = shmem_long_atomic_fetch_add(&counter, 2, 0);
    expect_fetch("shmem_long_atomic_fetch_add", 0, sizeof(long), &counter, 0);
    check(old > last, "fetch_add");
    last = old;
  }
  shmem_ulong_atomic_or((unsigned long*)&bits, 1ul << me, pes - 1);
  expect_put("shmem_ulong_atomic_or", pes - 1, sizeof(long), &bits, 0, 2);
  barrier();
  check(shmem_long_atomic_fetch(&counter, 0) == 3L * kTimes * pes, "sum of all");
  expect_get("shmem_long_atomic_fetch", 0, sizeof(long), &counter, 0, 2);
  check(shmem_long_atomic_compare_swap(&bits, (1L << pes) - 1, (1L << pes) - 1, pes - 1) ==
            (1L << pes) - 1,
        "bits of all");
  expect_fetch("shmem_long_atomic_compare_swap", pes - 1, sizeof(long), &bits, 0);
  barrier();
}

static void strided(void) {
  memset(to, 0, sizeof to);
  memset(results, 0, sizeof results);
  barrier();
  shmem_long_iput(to + 1, from, 3, 2, 4, next);
  expect_put("shmem_long_iput", next, 4 * sizeof(long), to + 1, 0, 0);
  shmem_long_iget(results, from + 1, 1, 3, 2, next);
  expect_get("shmem_long_iget", next, 2 * sizeof(long), from + 1, 0, 0);
  shmem_iput32((int*)(to + 20), (int*)from, 1, 2, 3, next);
  expect_put("shmem_iput32", next, 12, to + 20, 0, 0);
  barrier();
  for (int i = 0; i < 4; ++i)
    check(to[1 + 3 * i] == 100 * before + 2 * i && to[2 + 3 * i] == 0, "iput");
  check(results[0] == 100 * next + 1 && results[1] == 100 * next + 4, "iget");
}

static void locks(void) {
  for (int i = 0; i < kTimes; ++i) {
    if (i % 2 == 0) {
      shmem_set_lock(&lock);
      expect("shmem_set_lock lock:%s\n", place(&lock));
    } else {
      while (shmem_test_lock(&lock) != 0) {
        expect("shmem_test_lock\n");
        progress();
      }
      expect("shmem_test_lock lock:%s\n", place(&lock));
    }
    const long value = shmem_long_g(&guarded, 0);
    expect_get("shmem_long_g", 0, sizeof(long), &guarded, 0, 0);
    usleep(200);
    long_p(&guarded, value + 1, 0);
    shmem_clear_lock(&lock); /* completes the put */
    expect("shmem_clear_lock quiet:0 unlock:%s\n", place(&lock));
  }
  barrier();
  check(me != 0 || guarded == (long)kTimes * pes, "guarded by the lock");
}

/* In the heap, and to oneself. */
static void heap(void) {
  long* const block = shmem_malloc(4 * sizeof(long));
  expect_together("shmem_malloc", 1);
  first_block = (const char*)block;
  shmem_long_put_nbi(block, from, 2, next);
  expect_put("shmem_long_put_nbi", next, 2 * sizeof(long), block, 0, 1);
  shmem_quiet();
  expect("shmem_quiet quiet:0\n");
  shmem_putmem(block + 2, from, 16, me);
  expect_put("shmem_putmem", me, 16, block + 2, 0, 0);
  barrier();
  check(block[0] == 100 * before && block[3] == 100 * me + 1, "puts to the heap");
  shmem_free(block);
  expect_together("shmem_free", 1);
}

int main(void) {
  shmem_init();
  begin_expecting();
  expect("shmem_init\n");
  next = (me + 1) % pes;
  before = (me + pes - 1) % pes;
  for (size_t i = 0; i < sizeof psync / sizeof(long); ++i) ((long*)psync)[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) reduce_sync[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < 8 * kMost; ++i) from[i] = 100 * me + i;
  barrier();
  contexts();
  sets();
  ring();
  atomics();
  strided();
  locks();
  heap();
  printf("PE %d of %d: %d wrong results\n", me, pes, wrong_results);
  fflush(stdout);
  expect("shmem_finalize quiet:all coll:-:0,1,%d:0:0\n", pes);
  end_expecting();
  shmem_finalize();
  return wrong_results != 0;
}
