/* A program with pauses of its own making: they are called, and the library's are not. Rank 0 polls
 * until a message of rank 1 is there, and says to $KOJAK_EXPECT/0 what run_polls_case.py reads:
 * "own", polls and finds. */
#include <sched.h>
#include <time.h>

#include "expect.h"

static long yields, sleeps;

int sched_yield(void) {
  ++yields;
  return 0;
}
int usleep(useconds_t time) {
  const struct timespec wait = {0, 1000 * (long)time};
  ++sleeps;
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  begin_expecting();
  int data = 0, done = 0;
  long failed = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    MPI_Request r;
    MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r);
    for (yields = sleeps = 0; MPI_Test(&r, &done, MPI_STATUS_IGNORE), !done; ++failed) {
      sched_yield();
      usleep(50);
    }
    /* Open MPI yields by the same name. */
    check(yields >= failed && sleeps == failed, "a function of the program's own was not called");
    expect("own %ld 1 %ld %ld", failed, failed, 50000 * failed);
  } else {
    const struct timespec wait = {0, 20000000};
    nanosleep(&wait, NULL);
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (expect_file != NULL) fclose(expect_file);
  MPI_Finalize();
  return 0;
}
