/* Early Wait, Late Complete, Corresponding Complete. Rank 0 is the target; each part orders the
 * entries of its wait, the origins' transfers and their completes in another way. */
#include "truth.h"

enum {
  kWaitingA,
  kWaitingB,
  kTransferB,
  kWaitingC,
  kTransferC,
  kCompleteC1,
  kCompleteD,
  kTransferE,
  kWaitingE,
  kCompleteF,
  kWaitingF
};

static int memory[64];
static int value = 1;
static MPI_Win win;
static Members target;

static void post(Members origins) {
  TIMED(MPI_Win_post(origins.group, 0, win), "win=0 group=%s", origins.list);
}

/* The target's wait, announced. */
static void wait_epoch(int event) {
  tell(event);
  TIMED(MPI_Win_wait(win), "win=0");
}

static void start(void) {
  TIMED(MPI_Win_start(target.group, 0, win), "win=0 group=%s", target.list);
}

static void put(void) {
  TIMED(MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win), "win=0 to=0 bytes_put=4");
}

static void complete(void) {
  TIMED(MPI_Win_complete(win), "win=0");
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  target = members_of(AT(0));
  Members first = members_of(AT(1));
  Members all = members_of(((1u << ranks) - 1) & ~AT(0));

  /* A: no transfer at all. 60 ms Early Wait, nothing of it Late Complete. */
  meet();
  if (rank == 0) {
    post(first);
    wait_epoch(kWaitingA);
  } else if (rank == 1) {
    start();
    hear_late(kWaitingA, 1);
    complete();
  }

  /* B: one origin. 60 ms until its transfer, then 60 ms until its complete, which is Late Complete
   * and Corresponding Complete. */
  meet();
  if (rank == 0) {
    post(first);
    wait_epoch(kWaitingB);
  } else if (rank == 1) {
    start();
    hear_late(kWaitingB, 1);
    put();
    pause_ms(kLateMs);
    complete();
  }

  /* C: all origins. 3 is done at once; 1 has the last transfer after 60 ms and completes 60 ms
   * later; 2 completes 60 ms after that. Late Complete 120 ms, Corresponding Complete 60 ms. */
  meet();
  if (rank == 0) {
    post(all);
    wait_epoch(kWaitingC);
  } else {
    start();
    if (rank == 1) hear_late(kWaitingC, 1);
    put();
    if (rank == 1) {
      pause_ms(kLateMs);
      tell(kCompleteC1);
    }
    if (rank == 2) hear_late(kCompleteC1, 1);
    complete();
  }

  /* D: the origin completes long before the target waits: nothing. */
  meet();
  if (rank == 0) {
    post(first);
    hear_late(kCompleteD, 1);
    TIMED(MPI_Win_wait(win), "win=0");
  } else if (rank == 1) {
    start();
    put();
    tell(kCompleteD);
    complete();
  }

  /* E: the last transfer is over when the target begins to wait, the complete comes 60 ms after
   * that: all of it is Late Complete. */
  meet();
  if (rank == 0) {
    post(first);
    hear_late(kTransferE, 1);
    wait_epoch(kWaitingE);
  } else if (rank == 1) {
    start();
    tell(kTransferE);
    put();
    hear_late(kWaitingE, 1);
    complete();
  }

  /* F: all origins. The last one, without a transfer, completes 60 ms after the target began to
   * wait; the others have completed before. All of it is Early Wait and Late Complete, nothing is
   * Corresponding Complete. */
  if (ranks > 2) {
    meet();
    if (rank == 0) {
      post(all);
      hear_late(kCompleteF, ranks - 2);
      wait_epoch(kWaitingF);
    } else {
      start();
      if (rank < ranks - 1) {
        put();
        tell(kCompleteF);
      } else {
        hear_late(kWaitingF, 1);
      }
      complete();
    }
  }

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&target);
  members_free(&first);
  members_free(&all);
  if (rank == 0) {
    const int more = ranks > 2 ? 2 : 0; /* in C and F */
    at_least("mpi_rma_earlywait", "MPI_Win_wait", 0, (6 + more) * SURELY(kLateMs));
    at_least("mpi_rma_latecomplete", "MPI_Win_wait", 0, (3 + more) * SURELY(kLateMs));
    at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 0, 3 * SURELY(kLateMs));
    for (int r = 1; r < ranks; ++r) exactly_zero("mpi_rma_earlywait", "*", r);
  }
  truth_end();
  return 0;
}
