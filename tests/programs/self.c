/* A process that is its own target: among others in an access epoch, and in a fence epoch. */
#include "truth.h"

enum { kCompleting };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 2);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  come_late(AT(1));
  TIMED(MPI_Win_fence(0, win), "win=0");
  TIMED(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win), "win=0 to=%d bytes_put=4", rank);
  come_late(AT(0));
  TIMED(MPI_Win_fence(0, win), "win=0");

  Members both = members_of(AT(0) | AT(1));
  Members zero = members_of(AT(0));
  meet();
  if (rank == 0) TIMED(MPI_Win_post(both.group, 0, win), "win=0 group=%s", both.list);
  TIMED(MPI_Win_start(zero.group, 0, win), "win=0 group=%s", zero.list);
  if (rank == 1) hear_late(kCompleting, 1);
  TIMED(MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win), "win=0 to=0 bytes_put=4");
  if (rank == 1) pause_ms(kLateMs);
  /* (In Open MPI's osc/pt2pt a complete towards oneself ends only when the other origin's has
   * come.) */
  if (rank == 0) tell(kCompleting);
  TIMED(MPI_Win_complete(win), "win=0");
  if (rank == 0) TIMED(MPI_Win_wait(win), "win=0");
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&both);
  members_free(&zero);
  if (rank == 0) {
    at_least("mpi_rma_fence_wait", "MPI_Win_fence", 0, SURELY(kLateMs));
    at_least("mpi_rma_fence_wait", "MPI_Win_fence", 1, SURELY(kLateMs));
    if (!osc_is("pt2pt")) at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 0, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
