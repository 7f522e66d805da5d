/* Wait at Barrier and Barrier Completion: over all processes, over some, over one. */
#include "truth.h"

enum { kCaught, kReleased };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  const int in_part = rank != 2;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, in_part, rank, &part);
  meet();
  for (int late = 0; late < ranks; ++late) {
    come_late(AT(late));
    TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
  }
  /* Without rank 2, which is late for nothing here: the one that waits longest is not waited for.
   */
  come_late(AT(2) | AT(3));
  TIMED(MPI_Barrier(part), "comm=%s", in_part ? "part" : "rest");
  TIMED(MPI_Barrier(MPI_COMM_SELF), "comm=self%d", rank);
  /* The last process is held up in its barrier until 60 ms after the others have come: with two
   * processes, the other one is long gone then. */
  meet();
  if (rank == ranks - 1) hold_me_up(kCaught, kReleased);
  if (rank == 0) {
    hear(kCaught, 1);
    tell(kReleased);
  }
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
  MPI_Comm_free(&part);
  if (rank == 0) {
    for (int r = 0; r < ranks; ++r)
      at_least("mpi_barrier_wait", "MPI_Barrier", r, (ranks - 1) * SURELY(kLateMs));
    if (ranks == 4) at_least("mpi_barrier_wait", "MPI_Barrier", 0, ranks * SURELY(kLateMs));
  }
  if (rank == 0 && ranks == 2)
    at_least("mpi_barrier_completion", "MPI_Barrier", 1, SURELY(kLateMs));
  truth_end();
  return 0;
}
