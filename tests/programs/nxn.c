/* Wait at N x N and N x N Completion: every collective in which all need the data of all, with one
 * process late for each. */
#include "truth.h"

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
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
        "comm=world bytes_sent_coll=16 bytes_rcvd_coll=16");
  come_late(AT(2));
  TIMED(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=16");
  come_late(AT(3));
  TIMED(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=16 bytes_rcvd_coll=4");
  come_late(AT(0));
  TIMED(MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=16 bytes_rcvd_coll=4");
  come_late(AT(1));
  TIMED(MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, world),
        "comm=world bytes_sent_coll=16 bytes_rcvd_coll=16");
  come_late(AT(2));
  TIMED(MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=16");
  come_late(AT(0) | AT(3));
  TIMED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=4");

  meet();
  if (rank == 0) {
    at_least("mpi_wait_nxn", "MPI_Allreduce", 1, 2 * SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Alltoall", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Allgather", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Reduce_scatter", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Reduce_scatter_block", 1, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Alltoallv", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Allgatherv", 3, SURELY(kLateMs));
    exactly_zero("mpi_wait_nxn", "MPI_Alltoall", 1);
    exactly_zero("mpi_wait_nxn", "MPI_Allgather", 2);
  }
  truth_end();
  return 0;
}
