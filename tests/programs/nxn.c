/* Wait at N x N and N x N Completion: every collective in which all need the data of all, with one
 * process late for each. */
#include "truth.h"

enum { kCaught, kReleased };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  int out[16] = {0};
  int in[16];
  int counts[4] = {1, 1, 1, 1};
  int places[4] = {0, 1, 2, 3};
  const MPI_Comm world = MPI_COMM_WORLD;

  come_late(AT(0));
  TIMED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=4");
  come_late(AT(1));
  TIMED(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world),
        "comm=world bytes_sent_coll=%d bytes_rcvd_coll=%d", 4 * ranks, 4 * ranks);
  come_late(AT(2 % ranks));
  TIMED(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=%d", 4 * ranks);
  come_late(AT(3 % ranks));
  TIMED(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=%d bytes_rcvd_coll=4", 4 * ranks);
  come_late(AT(0));
  TIMED(MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=%d bytes_rcvd_coll=4", 4 * ranks);
  come_late(AT(1));
  TIMED(MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, world),
        "comm=world bytes_sent_coll=%d bytes_rcvd_coll=%d", 4 * ranks, 4 * ranks);
  come_late(AT(2 % ranks));
  TIMED(MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=%d", 4 * ranks);
  come_late(ranks > 3 ? AT(0) | AT(3) : AT(0));
  TIMED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=4");

  /* The last process is held up in the call until 60 ms after the others have come: with two
   * processes, the other one is long gone then. */
  meet();
  if (rank == ranks - 1) hold_me_up(kCaught, kReleased);
  if (rank == 0) {
    hear(kCaught, 1);
    tell(kReleased);
  }
  TIMED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=4");

  meet();
  if (rank == 0) {
    if (ranks == 2) at_least("mpi_nxn_completion", "MPI_Allreduce", 1, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Allreduce", 1, 2 * SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Alltoall", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Allgather", ranks == 2, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Reduce_scatter", ranks == 3, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Reduce_scatter_block", 1, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Alltoallv", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Allgatherv", ranks == 2, SURELY(kLateMs));
    exactly_zero("mpi_wait_nxn", "MPI_Alltoall", 1);
    exactly_zero("mpi_wait_nxn", "MPI_Allgather", 2 % ranks);
  }
  truth_end();
  return 0;
}
