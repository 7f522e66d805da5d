/* Early Scan: only lower ranks of the communicator are waited for. */
#include "truth.h"

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  int one = 1;
  int sum = 0;
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  meet();
  for (int late = 0; late < ranks; late += 2) { /* 0: 1, 2, 3 wait. 2: 3 waits */
    come_late(AT(late));
    TIMED(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
          "comm=world place=%d bytes_sent_coll=4 bytes_rcvd_coll=4", rank);
    meet();
    come_late(AT(late));
    TIMED(MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
          "comm=world place=%d bytes_sent_coll=4 bytes_rcvd_coll=%d", rank, rank == 0 ? 0 : 4);
    meet();
  }
  come_late(AT(ranks > 2 ? 2 : 1)); /* reversed: those below wait */
  TIMED(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, reversed),
        "comm=reversed place=%d bytes_sent_coll=4 bytes_rcvd_coll=4", ranks - 1 - rank);
  meet();
  MPI_Comm_free(&reversed);
  if (rank == 0) {
    at_least("mpi_earlyscan", "MPI_Scan", 0, SURELY(kLateMs));
    at_least("mpi_earlyscan", "MPI_Scan", 1, (ranks > 2 ? 2 : 1) * SURELY(kLateMs));
    if (ranks > 3) {
      at_least("mpi_earlyscan", "MPI_Scan", 3, 2 * SURELY(kLateMs));
      at_least("mpi_earlyscan", "MPI_Exscan", 3, 2 * SURELY(kLateMs));
    }
    exactly_zero("mpi_earlyscan", "MPI_Exscan", 0);
  }
  truth_end();
  return 0;
}
