/* Two windows whose processes overlap: ranks 0 to 2 and ranks 1 to 3, so ranks in a window are not
 * world ranks. Fences, creation, freeing and epochs of one window say nothing about the other. */
#include "truth.h"

enum { kStartingLow, kWaitingHigh, kFreeingHigh, kCreating };

static int memory[2][64];
static int value;

/* Creates a window over the processes of `set`, in world order. (Its communicator lives as long as
 * the window: MPICH 4.0 confuses windows whose communicators were freed.) */
static MPI_Comm create(unsigned set, int which, MPI_Win* win) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, set & AT(rank) ? 0 : MPI_UNDEFINED, rank, &comm);
  meet();
  if (!(set & AT(rank))) return comm;
  if (rank == 2 * which) /* 0 is late for the low window, 2 for the high one */
    hear_late(kCreating + which, 2);
  else
    tell(kCreating + which);
  TIMED(MPI_Win_create(memory[which], sizeof memory[which], sizeof(int), MPI_INFO_NULL, comm, win),
        "win=%d", which);
  return comm;
}

static void put(MPI_Win win, int which, int to) {
  TIMED(MPI_Put(&value, 1, MPI_INT, to - which, rank, 1, MPI_INT, win), "win=%d to=%d bytes_put=4",
        which, to);
}

static void fence(MPI_Win win, int which) {
  TIMED(MPI_Win_fence(0, win), "win=%d", which);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  MPI_Win low = MPI_WIN_NULL;
  MPI_Win high = MPI_WIN_NULL;
  MPI_Comm low_comm = create(AT(0) | AT(1) | AT(2), 0, &low);
  MPI_Comm high_comm = create(AT(1) | AT(2) | AT(3), 1, &high);

  /* Fences: 0 is late on the low window and makes 1 and 2 late on the high one, where 3 waits. In
   * the second round 3 is late, and nobody is for the low window. */
  meet();
  if (rank < 3) fence(low, 0);
  if (rank > 0) fence(high, 1);
  for (int round = 0; round < 2; ++round) {
    if (rank < 3) put(low, 0, (rank + 1) % 3);
    if (rank > 0) put(high, 1, rank % 3 + 1);
    come_late(round == 0 ? AT(0) : AT(3));
    if (rank < 3) fence(low, 0);
    if (rank > 0) fence(high, 1);
  }

  /* 1 accesses 0 on the low window, late posted, and is itself exposed to 3 on the high one, where
   * the complete is late. Both epochs are open at once. */
  meet();
  Members zero = members_of(AT(0));
  Members one = members_of(AT(1));
  Members three = members_of(AT(3));
  if (rank == 0) {
    hear_late(kStartingLow, 1);
    TIMED(MPI_Win_post(one.group, 0, low), "win=0 group=%s", one.list);
    TIMED(MPI_Win_wait(low), "win=0");
  } else if (rank == 1) {
    TIMED(MPI_Win_post(three.group, 0, high), "win=1 group=%s", three.list);
    tell(kStartingLow);
    TIMED(MPI_Win_start(zero.group, 0, low), "win=0 group=%s", zero.list);
    put(low, 0, 0);
    TIMED(MPI_Win_complete(low), "win=0");
    tell(kWaitingHigh);
    TIMED(MPI_Win_wait(high), "win=1");
  } else if (rank == 3) {
    TIMED(MPI_Win_start(one.group, 0, high), "win=1 group=%s", one.list);
    put(high, 1, 1);
    hear_late(kWaitingHigh, 1);
    TIMED(MPI_Win_complete(high), "win=1");
  }
  members_free(&zero);
  members_free(&one);
  members_free(&three);

  meet();
  if (rank < 3) TIMED(MPI_Win_free(&low), "win=0");
  meet();
  if (rank == 1)
    hear_late(kFreeingHigh, 2);
  else if (rank > 1)
    tell(kFreeingHigh);
  if (rank > 0) TIMED(MPI_Win_free(&high), "win=1");
  if (rank < 3) MPI_Comm_free(&low_comm);
  if (rank > 0) MPI_Comm_free(&high_comm);
  if (rank == 0) {
    at_least("mpi_rma_wait_window_create", "MPI_Win_create", 1, 2 * SURELY(kLateMs));
    at_least("mpi_rma_wait_window_create", "MPI_Win_create", 3, SURELY(kLateMs));
    at_least("mpi_rma_fence_wait", "MPI_Win_fence", 1, 2 * SURELY(kLateMs));
    at_least("mpi_rma_fence_wait", "MPI_Win_fence", 3, SURELY(kLateMs));
    at_least("mpi_rma_latepost", "*", 1, SURELY(kLateMs));
    at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 1, SURELY(kLateMs));
    at_least("mpi_rma_wait_window_free", "MPI_Win_free", 3, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
