/* Two processes, 0 and 1, wait for a flag in the memory of 3, which is in a barrier; 2 sets it late.
 * So five times. They read it by
 *   sum        MPI_Fetch_and_op, which adds 0
 *   bits       MPI_Get_accumulate, which sets no bit
 *   nothing    MPI_Get_accumulate with MPI_NO_OP
 *   same       MPI_Compare_and_swap, which writes what it compares with
 *   request    MPI_Rget and MPI_Wait
 *   window     MPI_Get, and 2 sets it through another window over the same memory
 * Those who wait print from when to when they did, and 2 when it set the flag:
 *   rank 0 read 0.100000 0.140000
 *   rank 2 set 0.130000
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kTimes = 5, kFlag = 2, kTarget = 3 };
static const char* how = "sum";
static int *memory, zero, me;
static MPI_Win win, over;

/* MPI_Wtime may count from each process's own start. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int is(const char* name) { return strcmp(how, name) == 0; }

static int read_flag(void) {
  int value = 0;
  if (is("sum")) MPI_Fetch_and_op(&zero, &value, MPI_INT, kTarget, kFlag, MPI_SUM, win);
  if (is("bits"))
    MPI_Get_accumulate(&zero, 1, MPI_INT, &value, 1, MPI_INT, kTarget, kFlag, 1, MPI_INT, MPI_BOR, win);
  if (is("nothing"))
    MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, kTarget, kFlag, 1, MPI_INT, MPI_NO_OP, win);
  if (is("same")) MPI_Compare_and_swap(&zero, &zero, &value, MPI_INT, kTarget, kFlag, win);
  if (is("window")) MPI_Get(&value, 1, MPI_INT, kTarget, kFlag, 1, MPI_INT, win);
  if (is("request")) {
    MPI_Request request;
    MPI_Rget(&value, 1, MPI_INT, kTarget, kFlag, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return value;
  }
  MPI_Win_flush(kTarget, win);
  return value;
}

__attribute__((noinline)) static void late(void) { usleep(40000); }

int main(int argc, char** argv) {
  double from[kTimes], to[kTimes];
  if (argc > 1) how = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, 64);
  /* Its first int is the flag. */
  MPI_Win_create(memory + kFlag, 32, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &over);
  MPI_Win_lock_all(0, win);
  MPI_Win_lock_all(0, over);
  for (int i = 0; i < kTimes; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    from[i] = seconds();
    if (me == 2) {
      const int value = i + 1;
      late();
      from[i] = seconds();
      MPI_Win set = is("window") ? over : win;
      MPI_Accumulate(&value, 1, MPI_INT, kTarget, is("window") ? 0 : kFlag, 1, MPI_INT, MPI_REPLACE, set);
      MPI_Win_flush(kTarget, set);
    } else if (me < 2) {
      while (read_flag() != i + 1) {
      }
    }
    to[i] = seconds();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(over);
  MPI_Win_unlock_all(win);
  for (int i = 0; i < kTimes && me < 2; ++i) printf("rank %d read %.6f %.6f\n", me, from[i], to[i]);
  for (int i = 0; i < kTimes && me == 2; ++i) printf("rank 2 set %.6f\n", from[i]);
  MPI_Win_free(&over);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
