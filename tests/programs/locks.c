/* Lock contention: who holds a lock late, who asks for it meanwhile. Where the others wait is the
 * implementation's choice (MPI_Win_lock, a large put, a flush, MPI_Win_unlock); that they wait, and
 * until when, is not. The last process is the target, the one before it the holder (with two
 * processes it is the target itself), all below ask. Who has nothing to do calls MPI all the time,
 * since some implementations grant locks only then. */
#include <stdlib.h>

#include "truth.h"

enum { kCount = 1 << 20, kWorkMs = 20 };
/* What is told in each round: somebody holds the lock, somebody asks for it, has done its
 * work, has released it, has finished the round. */
enum { kHeld, kAsking, kDone, kReleased, kFinished, kEvents };
#define EVENT(round, which) ((round)*kEvents + (which))

static int* memory; /* a part for each origin */
static int* local;
static MPI_Win win;
static int target;
static int holder;
static int askers;

static void lock(int exclusive, int assertion) {
  TIMED(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, assertion, win),
        "win=0 lock=%d exclusive=%d nocheck=%d", target, exclusive, assertion != 0);
}
static void unlock(void) {
  TIMED(MPI_Win_unlock(target, win), "win=0 unlock=%d", target);
}
static void put(int to, int count) {
  const MPI_Aint own = (MPI_Aint)rank * kCount;
  TIMED(MPI_Put(local, count, MPI_INT, to, own, count, MPI_INT, win), "win=0 to=%d bytes_put=%zu",
        to, (size_t)count * sizeof(int));
}
static void flush(int which) {
  TIMED(MPI_Win_flush(which, win), "win=0 flush=%d", which);
}
/* At least kWorkMs in transfers: long enough to show if somebody claims that they waited. (A local
 * flush after a put is no proof that the lock is held; such a proof would rule out a wait.) */
static void work(int count) {
  for (const double since = truth_now(); truth_now() - since < 1e-3 * kWorkMs;) {
    put(target, count);
    TIMED(MPI_Win_flush_local(target, win), "win=0 flush_local=%d", target);
  }
}
static void serve(int event, int times) {
  while (!told(event, times)) {
    int flag;
    TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d", rank);
    pause_ms(1);
  }
}
static void finish(int round) {
  tell(EVENT(round, kFinished));
  serve(EVENT(round, kFinished), ranks);
  meet();
}
/* Holds the lock until `asking` others are about to ask for it, and a while longer. */
static void hold(int round, int asking) {
  lock(1, 0);
  put(target, 1);
  flush(target);
  tell(EVENT(round, kHeld));
  hear_late(EVENT(round, kAsking), asking);
  unlock();
}

/* An exclusive holder that unlocks late; who asks flushes a little, or puts much. */
static void exclusive(int round) {
  if (rank == holder) hold(round, askers);
  if (rank < askers) {
    hear(EVENT(round, kHeld), 1);
    tell(EVENT(round, kAsking));
    lock(1, 0);
    put(target, rank == 0 ? 1 : kCount);
    if (rank == 0) flush(target);
    unlock();
  }
  finish(round);
}

/* lock_all while an exclusive lock is held elsewhere; it flushes another target first. */
static void all_against_one(int round) {
  const int other = ranks > 2;
  if (rank == holder) hold(round, 1);
  if (rank == 0) {
    hear(EVENT(round, kHeld), 1);
    tell(EVENT(round, kAsking));
    TIMED(MPI_Win_lock_all(0, win), "win=0");
    put(other, 1);
    flush(other);
    put(target, 1);
    flush(target);
    TIMED(MPI_Win_unlock_all(win), "win=0");
  }
  finish(round);
}

/* Shared locks do not wait for each other: the others do their work while the holder has the lock,
 * and prove that they hold it, too, only after it was released. Nor do those that need no check,
 * exclusive as they are. (Each writes to its own part, and little in Open MPI's osc/pt2pt, where a
 * large put under such a lock never ends.) */
static void together(int round, int is_exclusive, int assertion, int count) {
  if (rank == holder) {
    lock(is_exclusive, assertion);
    put(target, 1);
    flush(target);
    tell(EVENT(round, kHeld));
    serve(EVENT(round, kDone), askers);
    unlock();
    tell(EVENT(round, kReleased));
  } else if (rank < askers) {
    hear(EVENT(round, kHeld), 1);
    lock(is_exclusive, assertion);
    work(count);
    tell(EVENT(round, kDone));
    hear(EVENT(round, kReleased), 1);
    put(target, 1);
    flush(target);
    unlock();
  }
  finish(round);
}

/* lock_all over the whole of a run, and one exclusive lock elsewhere that waits for its end. */
static void all_the_time(int round) {
  if (rank == 0) {
    TIMED(MPI_Win_lock_all(0, win), "win=0");
    work(1);
    tell(EVENT(round, kHeld));
    hear(EVENT(round, kAsking), 1);
    work(1);
    pause_ms(kLateMs);
    TIMED(MPI_Win_unlock_all(win), "win=0");
  }
  if (rank == holder) {
    serve(EVENT(round, kHeld), 1);
    tell(EVENT(round, kAsking));
    lock(1, 0);
    put(target, 1);
    flush(target);
    unlock();
  }
  finish(round);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  target = ranks - 1;
  holder = ranks > 2 ? ranks - 2 : 1;
  askers = holder;
  const size_t bytes = (size_t)ranks * kCount * sizeof(int);
  memory = calloc((size_t)ranks * kCount, sizeof(int));
  local = calloc(kCount, sizeof(int));
  if (memory == NULL || local == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  TIMED(MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0 all_noted=1");
  meet();
  exclusive(0);
  all_against_one(1);
  together(2, 0, 0, kCount);
  together(3, 1, MPI_MODE_NOCHECK, osc_is("pt2pt") ? 256 : kCount);
  all_the_time(4);
  TIMED(MPI_Win_free(&win), "win=0");
  free(memory);
  free(local);
  if (rank == 0) {
    const char* metrics = "mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention";
    at_least(metrics, "*", 0, 2 * SURELY(kLateMs));
    if (askers > 1) at_least(metrics, "*", 1, SURELY(kLateMs));
    at_least(metrics, "*", holder, SURELY(kLateMs));
    if (target != holder) exactly_zero(metrics, "*", target);
  }
  truth_end();
  return 0;
}
