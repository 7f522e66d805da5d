/* A target that asks by MPI_Win_test, and sleeps in between, waits like one in MPI_Win_wait: from
 * its first test on, which found nothing, to the one that ends the exposure epoch. */
#include "truth.h"

enum { kTesting, kTestingAgain };

static void test_until_done(MPI_Win win, int event) {
  int done = 0;
  POLLED(MPI_Win_test(win, &done), done, tell_and_sleep(event), "win=0 flag=1 polls=%d", polls);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 3);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  Members target = members_of(AT(0));
  Members origins = members_of(AT(1) | AT(2));
  for (int round = 0; round < 2; ++round) {
    meet();
    if (rank == 0) {
      TIMED(MPI_Win_post(origins.group, 0, win), "win=0 group=%s", origins.list);
      test_until_done(win, round == 0 ? kTesting : kTestingAgain);
    } else {
      TIMED(MPI_Win_start(target.group, 0, win), "win=0 group=%s", target.list);
      TIMED(MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win), "win=0 to=0 bytes_put=4");
      if (rank == round + 1) hear_late(round == 0 ? kTesting : kTestingAgain, 1);
      TIMED(MPI_Win_complete(win), "win=0");
    }
  }
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&target);
  members_free(&origins);
  if (rank == 0) {
    at_least("visits", "MPI_Win_test", 0, 4);
    at_least("mpi_rma_earlywait", "MPI_Win_test", 0, 2 * SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
