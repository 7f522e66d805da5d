/* Loops that read a value in a window until it changes, one stage after another with a barrier
 * between: rank 0 reads (its own memory, so that every library answers), rank 1 changes it late.
 * Two processes.
 *
 * Rank 0 writes what it did itself to $KOJAK_EXPECT/0, a line for each stage: its name, how many
 * reads of at most 16 bytes there were, how many of them found a value that had changed, and that.
 */
#define _GNU_SOURCE
#include <time.h>

#include "expect.h"

enum { kInts = 64, kTarget = 0 };
static int memory[kInts], one = 1, zero, values[kInts];
static MPI_Win win;
static long reads, finds;

static void late(void) {
  const struct timespec time = {0, 4000000};
  nanosleep(&time, NULL);
}
static void set(int place, int value) {
  MPI_Accumulate(&value, 1, MPI_INT, kTarget, place, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Win_flush(kTarget, win);
}
static void begin_stage(void) {
  reads = finds = 0;
  if (me == kTarget) memset(memory, 0, sizeof memory);
  if (me == kTarget) MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void end_stage(const char* name, long value) {
  if (me == 0) expect("%s %ld %ld %ld", name, reads, finds, value);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int get(int* to) {
  ++reads;
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Win_flush(kTarget, win);
  return *to;
}
static int get_local(int* to) {
  ++reads;
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Win_flush_local(kTarget, win);
  return *to;
}
static int fetch(int* to) {
  ++reads;
  MPI_Fetch_and_op(&zero, to, MPI_INT, kTarget, 3, MPI_NO_OP, win);
  MPI_Win_flush_all(win);
  return *to;
}
static int accumulate(int* to) {
  ++reads;
  MPI_Get_accumulate(NULL, 0, MPI_INT, to, 2, MPI_INT, kTarget, 3, 2, MPI_INT, MPI_NO_OP, win);
  MPI_Win_flush(kTarget, win);
  return to[0];
}
/* (The wait for what is there already lets others wait: MPICH.) */
static void let_others_go_on(void) {
  int any;
  PMPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
}
static int by_request(int* to) {
  MPI_Request request;
  let_others_go_on();
  ++reads;
  MPI_Rget(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return *to;
}
static int with_request(int* to) {
  MPI_Request request;
  let_others_go_on();
  ++reads;
  MPI_Rget_accumulate(NULL, 0, MPI_INT, to, 2, MPI_INT, kTarget, 3, 2, MPI_INT, MPI_NO_OP, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return to[0];
}
/* Complete before its request is. */
static int flushed(int* to) {
  MPI_Request request;
  after_a_while();
  ++reads;
  MPI_Rget(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win, &request);
  MPI_Win_flush(kTarget, win);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return *to;
}
/* Another call between the read and its flush. */
static int between(int* to) {
  int mine = 0;
  after_a_while();
  ++reads;
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 1, &mine, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Win_flush(kTarget, win);
  return *to;
}
/* Operations that leave what is there as it is. */
static int sum(int* to) {
  ++reads;
  MPI_Fetch_and_op(&zero, to, MPI_INT, kTarget, 3, MPI_SUM, win);
  MPI_Win_flush(kTarget, win);
  return *to;
}
static int bits(int* to) {
  static const int ones[2] = {-1, -1};
  ++reads;
  MPI_Get_accumulate(ones, 2, MPI_INT, to, 2, MPI_INT, kTarget, 3, 2, MPI_INT, MPI_BAND, win);
  MPI_Win_flush(kTarget, win);
  return to[0];
}
static int same(int* to) {
  ++reads;
  MPI_Compare_and_swap(&one, &one, to, MPI_INT, kTarget, 3, win);
  MPI_Win_flush(kTarget, win);
  return *to;
}
/* Two flags, of which the second one changes. */
static int both(int* to) {
  reads += 2;
  MPI_Get(to + 1, 1, MPI_INT, kTarget, 2, 1, MPI_INT, win);
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Win_flush(kTarget, win);
  return *to;
}
/* A lock: true if it has been taken. */
static int swap(int* to) {
  ++reads;
  MPI_Compare_and_swap(&one, &zero, to, MPI_INT, kTarget, 3, win);
  MPI_Win_flush(kTarget, win);
  return *to == 0;
}
static int replace(int* to) {
  ++reads;
  MPI_Fetch_and_op(&one, to, MPI_INT, kTarget, 3, MPI_REPLACE, win);
  MPI_Win_flush(kTarget, win);
  return *to == 0;
}
/* Something else is complete with that flush, too. */
static int beside_put(int* to) {
  after_a_while();
  MPI_Put(&one, 1, MPI_INT, kTarget, 9, 1, MPI_INT, win);
  return get(to);
}
static int large(int* to) {
  MPI_Get(to, 16, MPI_INT, kTarget, 3, 16, MPI_INT, win);
  MPI_Win_flush(kTarget, win);
  return to[0];
}
static int alone(int* to) {
  after_a_while();
  MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, win);
  ++reads;
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Win_unlock(kTarget, win);
  return *to;
}
/* Something else lies under that lock. */
static int beside(int* to) {
  after_a_while();
  MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, win);
  MPI_Put(&one, 1, MPI_INT, kTarget, 9, 1, MPI_INT, win);
  ++reads;
  MPI_Get(to, 1, MPI_INT, kTarget, 3, 1, MPI_INT, win);
  MPI_Win_unlock(kTarget, win);
  return *to;
}

/* Nothing is there to complete, and nobody tells what is in memory then. */
enum { kSyncs = 2000 };
static void sync_memory(void) { MPI_Win_sync(win); }
static void sync_all(void) { MPI_Win_flush_all(win); }
static void sync_one(void) { MPI_Win_flush_local(kTarget, win); }
static void idle(const char* name, void (*sync)(void)) {
  begin_stage();
  reads = kSyncs;
  for (int i = 0; i < kSyncs && me == 0; ++i) sync();
  end_stage(name, 0);
}

static void stage(const char* name, int (*read)(int*)) {
  begin_stage();
  if (me == 1) {
    late();
    set(3, 5);
  } else {
    memset(values, 0, sizeof values);
    while (read(values) == 0) {
    }
    finds = 1;
    if (values[0] != 5) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  end_stage(name, values[0]);
}
/* The lock is taken at the beginning; rank 1 gives it back. */
static void lock(const char* name, int (*take)(int*)) {
  reads = finds = 0;
  if (me == kTarget) memory[3] = 1;
  if (me == kTarget) MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 1) {
    late();
    set(3, 0);
  } else {
    while (!take(values)) {
    }
    finds = 1;
  }
  end_stage(name, 0);
}
/* Each read has an epoch of its own. */
static void locked(const char* name, int (*read)(int*)) {
  if (me == kTarget) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, win);
    memory[3] = 0;
    MPI_Win_unlock(kTarget, win);
  }
  reads = finds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    while (read(values) == 0) {
    }
    finds = 1;
  } else {
    late();
    MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, win);
    set(3, 5);
    MPI_Win_unlock(kTarget, win);
  }
  end_stage(name, 5);
}
/* The buffer is gone when the flush has returned. */
static int freed(int* to) {
  int* const result = malloc(sizeof *result);
  *result = -1;
  get(result);
  *to = *result;
  free(result);
  return *to;
}
/* What it reads it has changed itself before. */
static void own_counter(void) {
  begin_stage();
  if (me == 0) {
    for (int i = 0; i < 100; ++i) {
      int before;
      MPI_Accumulate(&one, 1, MPI_INT, kTarget, 3, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_flush(kTarget, win);
      get(&before);
      if (before != i + 1) MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  end_stage("counter", 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  begin_expecting();
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  stage("get", get);
  stage("fetch", fetch);
  stage("local", get_local);
  stage("accumulate", accumulate);
  stage("by_request", by_request);
  stage("with_request", with_request);
  stage("between", between);
  stage("flushed", flushed);
  stage("sum", sum);
  stage("bits", bits);
  stage("same", same);
  stage("both", both);
  stage("freed", freed);
  stage("beside_put", beside_put);
  stage("large", large);
  own_counter();
  lock("swap", swap);
  lock("replace", replace);
  idle("idle_sync", sync_memory);
  idle("idle_all", sync_all);
  idle("idle_one", sync_one);
  MPI_Win_unlock_all(win);
  locked("alone", alone);
  locked("beside", beside);
  MPI_Win_free(&win);
  if (expect_file != NULL) fclose(expect_file);
  printf("read\n");
  MPI_Finalize();
  return 0;
}
