/* Loops that read a value in the memory of another until it changes, one stage after another with a
 * barrier between: rank 0 reads, rank 1 changes it late. Two processes.
 *
 * Rank 0 writes what it did itself to $KOJAK_EXPECT/0, a line for each stage: its name, how many
 * reads of at most 16 bytes there were, how many of them found a value that had changed, and that.
 */
#define _GNU_SOURCE
#include <time.h>

#include "expect.h"

enum { kInts = 64 };
static int memory[kInts], one = 1, zero, values[kInts];
static MPI_Win win;
static long reads, finds;

static void late(void) {
  const struct timespec time = {0, 30000000};
  nanosleep(&time, NULL);
}
static void set(int place, int value) {
  MPI_Accumulate(&value, 1, MPI_INT, 1, place, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Win_flush(1, win);
}
static void begin_stage(void) {
  reads = finds = 0;
  if (me == 1) memset(memory, 0, sizeof memory);
  if (me == 1) MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void end_stage(const char* name, long value) {
  if (me == 0) expect("%s %ld %ld %ld", name, reads, finds, value);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int get(int* to) {
  ++reads;
  MPI_Get(to, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
  MPI_Win_flush(1, win);
  return *to;
}
static int get_local(int* to) {
  ++reads;
  MPI_Get(to, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
  MPI_Win_flush_local(1, win);
  return *to;
}
static int fetch(int* to) {
  ++reads;
  MPI_Fetch_and_op(&zero, to, MPI_INT, 1, 3, MPI_NO_OP, win);
  MPI_Win_flush_all(win);
  return *to;
}
static int accumulate(int* to) {
  ++reads;
  MPI_Get_accumulate(NULL, 0, MPI_INT, to, 2, MPI_INT, 1, 3, 2, MPI_INT, MPI_NO_OP, win);
  MPI_Win_flush(1, win);
  return to[0];
}
/* Two flags, of which the second one changes. */
static int both(int* to) {
  reads += 2;
  MPI_Get(to + 1, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
  MPI_Get(to, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
  MPI_Win_flush(1, win);
  return *to;
}
/* Something else is complete with that flush, too. */
static int beside_put(int* to) {
  MPI_Put(&one, 1, MPI_INT, 1, 9, 1, MPI_INT, win);
  return get(to);
}
static int large(int* to) {
  MPI_Get(to, 16, MPI_INT, 1, 3, 16, MPI_INT, win);
  MPI_Win_flush(1, win);
  return to[0];
}
static int alone(int* to) {
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  ++reads;
  MPI_Get(to, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
  MPI_Win_unlock(1, win);
  return *to;
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
      MPI_Accumulate(&one, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_flush(1, win);
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
  stage("both", both);
  stage("freed", freed);
  stage("beside_put", beside_put);
  stage("large", large);
  own_counter();
  MPI_Win_unlock_all(win);
  if (me == 0) {
    begin_stage();
    while (alone(values) == 0) {
    }
    finds = 1;
  } else {
    begin_stage();
    late();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    set(3, 5);
    MPI_Win_unlock(1, win);
  }
  end_stage("alone", 5);
  MPI_Win_free(&win);
  if (expect_file != NULL) fclose(expect_file);
  printf("read\n");
  MPI_Finalize();
  return 0;
}
