/* Rank 1 is late, in late(), while rank 0 waits at a barrier: three times, 0.15 s each. It
 *   sleep   sleeps by nanosleep
 *   wait    waits for a file descriptor that nothing comes on
 *   files   writes a file named by KOJAK_FILE and waits until it is on the disk, again and again
 *   spin    computes
 *   share   computes, on one processor with rank 2, which computes all the time (and sleeps else)
 * Says what the kernel counted of it within late():
 *   late SECONDS ran SECONDS without SECONDS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LENGTH 0.15

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double without(void) {
  char text[96];
  const int file = open("/proc/thread-self/schedstat", O_RDONLY);
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[size > 0 ? size : 0] = '\0';
  char* second = strchr(text, ' ');
  return second == NULL ? 0 : 1e-9 * (double)strtoull(second, NULL, 10);
}

static double sum[3];

__attribute__((noinline)) static void compute(double end) {
  volatile double x = 0;
  while (seconds(CLOCK_MONOTONIC) < end) {
    for (int i = 0; i < 1000; ++i) x += i;
  }
}

__attribute__((noinline)) static void write_files(double end) {
  static char block[1 << 16];
  const int file = open(getenv("KOJAK_FILE"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  while (seconds(CLOCK_MONOTONIC) < end) {
    if (pwrite(file, block, sizeof block, 0) != sizeof block || fsync(file) != 0) break;
  }
  close(file);
}

__attribute__((noinline)) static void late(const char* how) {
  const double begin = seconds(CLOCK_MONOTONIC), ran = seconds(CLOCK_THREAD_CPUTIME_ID),
               had_none = without();
  const double end = begin + LENGTH;
  if (strcmp(how, "sleep") == 0) {
    const struct timespec time = {0, (long)(LENGTH * 1e9)};
    nanosleep(&time, NULL);
  } else if (strcmp(how, "wait") == 0) {
    int pipes[2];
    if (pipe(pipes) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    struct pollfd wanted = {pipes[0], POLLIN, 0};
    poll(&wanted, 1, (int)(LENGTH * 1e3));
    close(pipes[0]);
    close(pipes[1]);
  } else if (strcmp(how, "files") == 0) {
    write_files(end);
  } else {
    compute(end);
  }
  sum[0] += seconds(CLOCK_MONOTONIC) - begin;
  sum[1] += seconds(CLOCK_THREAD_CPUTIME_ID) - ran;
  sum[2] += without() - had_none;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "sleep";
  const int share = strcmp(how, "share") == 0;
  int rank, go = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (share) {
    cpu_set_t mine, one;
    sched_getaffinity(0, sizeof mine, &mine);
    int processor = 0;
    while (!CPU_ISSET(processor, &mine)) ++processor;
    if (rank == 0) { /* it has another one, if there is one */
      for (int other = processor + 1; other < CPU_SETSIZE; ++other) {
        if (!CPU_ISSET(other, &mine)) continue;
        processor = other;
        break;
      }
    }
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) late(how);
    if (rank == 1) MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2 && share) compute(seconds(CLOCK_MONOTONIC) + LENGTH);
    if (rank == 2 && !share) usleep((useconds_t)(LENGTH * 1e6));
  }
  if (rank == 1) printf("late %.6f ran %.6f without %.6f\n", sum[0], sum[1], sum[2]);
  MPI_Finalize();
  return 0;
}
