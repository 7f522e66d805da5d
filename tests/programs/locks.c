/* Lock contention: who holds a lock late, who asks for it meanwhile. Where the others wait is the
 * implementation's choice (MPI_Win_lock, a large put, a flush, MPI_Win_unlock); that they wait, and
 * until when, is not. Process 3 is the target; it calls MPI all the time, since some
 * implementations grant locks only then. */
#include <stdlib.h>

#include "truth.h"

enum { kTarget = 3, kCount = 1 << 20 };
/* What is told: somebody holds the lock, somebody asks for it, somebody is done; for each round. */
enum { kHeld, kAsking, kDone, kEvents };
#define EVENT(round, which) ((round)*kEvents + (which))

static int* memory;
static int* local;
static MPI_Win win;

static void lock(int exclusive, int assertion) {
  TIMED(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, kTarget, assertion, win),
        "win=0 lock=%d exclusive=%d nocheck=%d", kTarget, exclusive, assertion != 0);
}
static void unlock(void) {
  TIMED(MPI_Win_unlock(kTarget, win), "win=0 unlock=%d", kTarget);
}
static void put(int to, int count) {
  TIMED(MPI_Put(local, count, MPI_INT, to, 0, count, MPI_INT, win), "win=0 to=%d bytes_put=%zu", to,
        (size_t)count * sizeof(int));
}
static void flush(int target) {
  TIMED(MPI_Win_flush(target, win), "win=0 flush=%d", target);
}
/* Calls MPI until all others have said that they are done with the round. */
static void serve(int round, int others) {
  while (!told(EVENT(round, kDone), others)) {
    int flag;
    TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d", rank);
    pause_ms(1);
  }
}
static void done(int round) {
  tell(EVENT(round, kDone));
}
/* Holds the lock until `asking` others are about to ask for it, and a while longer. */
static void hold(int round, int exclusive, int asking) {
  lock(exclusive, 0);
  put(kTarget, 1);
  flush(kTarget);
  tell(EVENT(round, kHeld));
  hear_late(EVENT(round, kAsking), asking);
  unlock();
  done(round);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  const size_t bytes = kCount * sizeof(int);
  memory = calloc(kCount, sizeof(int));
  local = calloc(kCount, sizeof(int));
  if (memory == NULL || local == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  TIMED(MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");

  meet(); /* 0: an exclusive holder that unlocks late; a second one with a flush, a third without */
  if (rank == 0) hold(0, 1, 2);
  if (rank == 1 || rank == 2) {
    hear(EVENT(0, kHeld), 1);
    tell(EVENT(0, kAsking));
    lock(1, 0);
    put(kTarget, rank == 1 ? 1 : kCount);
    if (rank == 1) flush(kTarget);
    unlock();
    done(0);
  }
  if (rank == kTarget) serve(0, 3);

  meet(); /* 1: lock_all while an exclusive lock is held elsewhere; it flushes another target */
  if (rank == 0) {
    hold(1, 1, 1);
    serve(1, 2); /* a member like the others */
  }
  if (rank == 1) {
    hear(EVENT(1, kHeld), 1);
    tell(EVENT(1, kAsking));
    TIMED(MPI_Win_lock_all(0, win), "win=0");
    put(2, 1);
    flush(2);
    put(kTarget, 1);
    flush(kTarget);
    TIMED(MPI_Win_unlock_all(win), "win=0");
    done(1);
  }
  if (rank == 2 || rank == kTarget) serve(1, 2);

  meet(); /* 2: shared locks do not wait for each other */
  if (rank == 0) hold(2, 0, 1);
  if (rank == 1) {
    hear(EVENT(2, kHeld), 1);
    lock(0, 0);
    put(kTarget, 1);
    unlock();
    tell(EVENT(2, kAsking));
    done(2);
  }
  if (rank == kTarget) serve(2, 2);

  meet(); /* 3: the program promises that nobody else holds the lock */
  if (rank == 0) {
    lock(1, MPI_MODE_NOCHECK);
    put(kTarget, 1);
    unlock();
    done(3);
  }
  if (rank == kTarget) serve(3, 1);

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  free(memory);
  free(local);
  if (rank == 0) {
    const char* metrics = "mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention";
    at_least(metrics, "*", 1, 2 * SURELY(kLateMs));
    at_least(metrics, "*", 2, SURELY(kLateMs));
    exactly_zero(metrics, "*", kTarget);
  }
  truth_end();
  return 0;
}
