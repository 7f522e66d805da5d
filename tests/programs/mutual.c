/* Every process exposes its window to both neighbours in a ring and accesses theirs at the same
 * time, as a halo exchange does. One process is late to post, another one is late with its
 * transfers, and again to complete. */
#include "truth.h"

enum { kCompleting };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0 all_noted=1");
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  Members neighbours = members_of(AT(left) | AT(right));
  for (int round = 0; round < 2; ++round) {
    meet();
    if (round == 0) come_late(AT(1));
    TIMED(MPI_Win_post(neighbours.group, 0, win), "win=0 group=%s", neighbours.list);
    TIMED(MPI_Win_start(neighbours.group, 0, win), "win=0 group=%s", neighbours.list);
    if (round == 1 && rank == 2) hear_late(kCompleting, 3);
    TIMED(MPI_Put(&value, 1, MPI_INT, left, 1, 1, MPI_INT, win), "win=0 to=%d bytes_put=4", left);
    TIMED(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win), "win=0 to=%d bytes_put=4", right);
    if (round == 1 && rank == 2) pause_ms(kLateMs);
    if (round == 1 && rank != 2) tell(kCompleting);
    TIMED(MPI_Win_complete(win), "win=0");
    TIMED(MPI_Win_wait(win), "win=0");
  }
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&neighbours);
  if (rank == 0) {
    /* With UCX a post may wait for the late process, too, and then nobody has to start late. */
    if (!osc_is("ucx")) {
      at_least("mpi_rma_latepost", "*", 0, SURELY(kLateMs));
      at_least("mpi_rma_latepost", "*", 2, SURELY(kLateMs));
    }
    /* In pt2pt a complete may wait for the late process, too: then the waits come later, not less.
     */
    if (origins_run_ahead()) {
      at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 1, SURELY(kLateMs));
      at_least("mpi_rma_latecomplete_pair", "MPI_Win_wait", 3, SURELY(kLateMs));
    }
  }
  truth_end();
  return 0;
}
