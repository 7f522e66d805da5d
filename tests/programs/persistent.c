/* Persistent requests: the message starts, and its receive is posted, at MPI_Start. */
#include "truth.h"

enum { kWaiting, kSsendWaiting };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 2);
  int value = rank;
  MPI_Request request;

  meet(); /* the sender is late */
  if (rank == 0) {
    MPI_Recv_init(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 2; ++round) {
      TIMED(MPI_Start(&request), "post=a%d", round);
      tell(kWaiting);
      TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "recv=a%d bytes_rcvd_p2p=4", round);
    }
  } else {
    MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 2; ++round) {
      hear_late(kWaiting, round + 1);
      TIMED(MPI_Start(&request), "send=a%d bytes_sent_p2p=4", round);
      TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "finish=a%d", round);
    }
  }
  MPI_Request_free(&request);

  meet(); /* the receiver is late */
  if (rank == 0) {
    MPI_Ssend_init(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    TIMED(MPI_Start(&request), "send=b bytes_sent_p2p=4");
    tell(kSsendWaiting);
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "finish=b");
  } else {
    MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    hear_late(kSsendWaiting, 1);
    TIMED(MPI_Start(&request), "post=b");
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "recv=b bytes_rcvd_p2p=4");
  }
  MPI_Request_free(&request);

  meet();
  if (rank == 0) {
    at_least("mpi_latesender", "MPI_Wait", 0, 2 * SURELY(kLateMs));
    at_least("mpi_latereceiver", "MPI_Wait", 0, SURELY(kLateMs));
    exactly_zero("mpi_latesender", "*", 1);
    exactly_zero("mpi_latereceiver", "MPI_Start", 0);
  }
  truth_end();
  return 0;
}
