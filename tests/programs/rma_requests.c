/* Transfers with requests, whose Wait is a call of their epoch: it waits for the lock, and that of
 * a get for the target's progress. Process 0 is the origin, the last one the target, which also
 * holds the lock that process 0 waits for. */
#include <stdlib.h>

#include "truth.h"

enum { kCount = 1 << 21 /* 8 MB */ };
enum { kHeld, kAsking, kReleased, kIssued, kDone = 8 };

static int* memory;
static int* local;
static int* result;
/* One window for each part: a single get that needed no progress would void all claims of its
 * window, and where the target calls MPI all the time it may have answered before the Wait begins.
 */
static MPI_Win windows[2];
static int w;
static int target;

/* Starts one kind of transfer and waits for it. */
static void rput(int count) {
  MPI_Request request;
  static int n;
  TIMED(MPI_Rput(local, count, MPI_INT, target, 0, count, MPI_INT, windows[w], &request),
        "win=%d to=%d bytes_put=%zu rma=put%d", w, target, (size_t)count * sizeof(int), ++n);
  TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "rma=put%d", n);
}
static void rget(int count) {
  MPI_Request request;
  static int n;
  TIMED(MPI_Rget(local, count, MPI_INT, target, 0, count, MPI_INT, windows[w], &request),
        "win=%d to=%d bytes_get=%zu result=1 rma=get%d", w, target, (size_t)count * sizeof(int),
        ++n);
  TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "rma=get%d", n);
}
static void rget_accumulate(int count) {
  MPI_Request request;
  static int n;
  const size_t bytes = (size_t)count * sizeof(int);
  TIMED(MPI_Rget_accumulate(local, count, MPI_INT, result, count, MPI_INT, target, 0, count,
                            MPI_INT, MPI_SUM, windows[w], &request),
        "win=%d to=%d bytes_put=%zu bytes_get=%zu result=1 rma=acc%d", w, target, bytes, bytes,
        ++n);
  TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "rma=acc%d", n);
}
/* Two at once, completed by one call. */
static void two_gets(int count) {
  MPI_Request requests[2];
  static int n;
  const size_t bytes = (size_t)count * sizeof(int);
  ++n;
  TIMED(MPI_Rget(local, count, MPI_INT, target, 0, count, MPI_INT, windows[w], &requests[0]),
        "win=%d to=%d bytes_get=%zu result=1 rma=a%d", w, target, bytes, n);
  TIMED(MPI_Rget(result, count, MPI_INT, target, 0, count, MPI_INT, windows[w], &requests[1]),
        "win=%d to=%d bytes_get=%zu result=1 rma=b%d", w, target, bytes, n);
  TIMED(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "rma=a%d,b%d", n, n);
}

static void lock(int exclusive) {
  TIMED(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, windows[w]),
        "win=%d lock=%d exclusive=%d", w, target, exclusive);
}
static void unlock(void) {
  TIMED(MPI_Win_unlock(target, windows[w]), "win=%d unlock=%d", w, target);
}
/* The target computes; then it calls MPI until process 0 says that it is done. */
static void compute_and_serve(int event) {
  pause_ms(kLateMs);
  while (!told(event, 1)) {
    int flag;
    TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d", rank);
    pause_ms(1);
  }
}

/* Process 0 asks for the lock while the target holds it itself. */
static void contention(void (*transfer)(int), int round) {
  meet();
  if (rank == 0) {
    hear(kHeld, round + 1);
    tell(kAsking);
    lock(1);
    transfer(1);
    unlock();
    tell(kDone + round);
  } else if (rank == target) {
    lock(1);
    TIMED(MPI_Put(local, 1, MPI_INT, target, 0, 1, MPI_INT, windows[w]), "win=%d to=%d bytes_put=4",
          w, target);
    TIMED(MPI_Win_flush(target, windows[w]), "win=%d flush=%d", w, target);
    tell(kHeld);
    hear_late(kAsking, round + 1);
    unlock();
    compute_and_serve(kDone + round);
  }
}

/* The target computes from before the transfer on; the lock is already held. */
static void progress(void (*transfer)(int), int round) {
  meet();
  if (rank == 0) {
    lock(0);
    TIMED(MPI_Put(local, 1, MPI_INT, target, 0, 1, MPI_INT, windows[w]), "win=%d to=%d bytes_put=4",
          w, target);
    TIMED(MPI_Win_flush(target, windows[w]), "win=%d flush=%d", w, target); /* so it is */
    tell(kReleased);
    hear(kIssued, round + 1);
    transfer(kCount);
    tell(kDone + 16 + round);
    unlock();
    tell(kDone + 32 + round);
  } else if (rank == target) {
    while (!told(kReleased, round + 1)) {
      int flag;
      TIMED(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "rank=%d",
            rank);
      pause_ms(1);
    }
    tell(kIssued);
    compute_and_serve(kDone + 16 + round);
    compute_and_serve(kDone + 32 + round);
  }
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  target = ranks - 1;
  memory = calloc(kCount, sizeof(int));
  local = calloc(kCount, sizeof(int));
  result = calloc(kCount, sizeof(int));
  if (memory == NULL || local == NULL || result == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (w = 0; w < 2; ++w)
    TIMED(MPI_Win_create(memory, (MPI_Aint)kCount * (MPI_Aint)sizeof(int), sizeof(int),
                         MPI_INFO_NULL, MPI_COMM_WORLD, &windows[w]),
          "win=%d all_noted=1", w);
  void (*const transfers[])(int) = {rput, rget, rget_accumulate, two_gets};
  w = 0;
  for (int t = 0; t < 4; ++t) contention(transfers[t], t);
  w = 1;
  for (int t = 0; t < 4; ++t) progress(transfers[t], t);
  meet();
  for (w = 0; w < 2; ++w) TIMED(MPI_Win_free(&windows[w]), "win=%d", w);
  free(memory);
  free(local);
  free(result);
  if (rank == 0) {
    at_least("mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention", "*", 0,
             4 * SURELY(kLateMs));
    exactly_zero("mpi_rma_comm_lock_contention+mpi_rma_sync_lock_contention", "*", target);
    exactly_zero("mpi_latesender+mpi_point2point", "MPI_Wait", 0);
    /* What a Wait itself is known to wait for: the lock, or the target. */
    if (osc_is("pt2pt")) at_least("mpi_rma_comm_wait_for_progress", "*", 0, 3 * SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
