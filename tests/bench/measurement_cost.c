/* Nanoseconds of CPU time per MPI call, for kinds of calls whose cost under measurement matters.
 *
 * Usage: measurement_cost CALLS, with 2 processes. Rank 0 calls, rank 1 sleeps meanwhile so that it takes
 * no processor away. Each kind is timed in pieces; the median piece is printed as `name nanoseconds`, and under
 * measurement (ELG_DIR) the bytes that its trace has grown by for each call as `name.bytes bytes`. `clock` is one
 * reading of the processor's counter. Run with and without the measurement library; measurement_cost.py does and
 * prints the differences.
 */
#include <mpi.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pieces.h"

/* Bytes of this process's trace, once its buffer is in the file. */
static long trace_bytes(void) {
  const char* directory = getenv("ELG_DIR");
  char path[4096];
  struct stat info;
  if (directory == NULL) return 0;
  MPI_Pcontrol(2);
  snprintf(path, sizeof path, "%s/0.0.elg", directory);
  return stat(path, &info) == 0 ? (long)info.st_size : 0;
}

/* After each piece AFTER is called once: with many calls it does not count. */
#define MEASURE_CALL(name, BODY, AFTER)                                                             \
  do {                                                                                              \
    const long before = trace_bytes();                                                              \
    MEASURE(name, BODY, AFTER);                                                                     \
    printf("%s.bytes %.2f\n", name, (double)(trace_bytes() - before) / (double)calls / (kPieces + 1)); \
  } while (0)

#if defined(__x86_64__)
#define READ_CLOCK() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
static unsigned long read_clock(void) {
  unsigned long value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}
#define READ_CLOCK() read_clock()
#else
#define READ_CLOCK() now()
#endif
static volatile unsigned long long clock_value;

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* memory;
  MPI_Win win;
  MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    double value = 1;
    MPI_Request request;
    MEASURE("clock", clock_value = READ_CLOCK(), (void)0);
    MEASURE_CALL("lock_unlock",
                 MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
                 MPI_Win_unlock(1, win), (void)0);
    MPI_Win_lock_all(0, win);
    MPI_Request never;
    int flag;
    MPI_Irecv(&value, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, &never);
    MEASURE_CALL("put", MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win), MPI_Win_flush(1, win));
    MEASURE_CALL("get", MPI_Get(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win), MPI_Win_flush(1, win));
    MEASURE_CALL("put_flush", MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
                 MPI_Win_flush(1, win), (void)0);
    /* From here on to comm_rank, but for rput_wait, they are polls, and joined. */
    MEASURE_CALL("get_flush", MPI_Get(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
                 MPI_Win_flush(1, win), (void)0);
    MEASURE_CALL("flush", MPI_Win_flush(1, win), (void)0);
    MEASURE_CALL("win_sync", MPI_Win_sync(win), (void)0);
    MEASURE_CALL("test", MPI_Test(&never, &flag, MPI_STATUS_IGNORE), (void)0);
    MEASURE_CALL("test_yield", MPI_Test(&never, &flag, MPI_STATUS_IGNORE); sched_yield(), (void)0);
    MEASURE_CALL("iprobe", MPI_Iprobe(0, 98, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), (void)0);
    MEASURE_CALL("rput_wait",
            MPI_Rput(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Win_flush(1, win));
    MEASURE("yield", sched_yield(), (void)0);
    MEASURE_CALL("comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &flag), (void)0);
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
    double out = 2, in;
    MEASURE_CALL("isend_recv_wait",
            MPI_Isend(&out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &request);
            MPI_Recv(&in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE), (void)0);
    MEASURE_CALL("sendrecv",
            MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 5, &in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            (void)0);
    MPI_Win_unlock_all(win);
    MPI_Send(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    int done = 0;
    while (!done) {
      usleep(20000);
      MPI_Iprobe(0, 7, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    double value;
    MPI_Recv(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
