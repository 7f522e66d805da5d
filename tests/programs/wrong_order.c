/* Messages in Wrong Order: the wait would have been shorter, had an older message been received
 * first. Late Sender looks at messages to the same receiver, Late Receiver at messages of the same
 * sender. */
#include "truth.h"

enum { kEntering = 0, kSent = 16, kReceived = 32 };

static int value;

static void send(int to, int tag, const char* message) {
  TIMED(MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD), "send=%s bytes_sent_p2p=4", message);
}

static void receive(int from, int tag, const char* message) {
  TIMED(MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "recv=%s bytes_rcvd_p2p=4", message);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  MPI_Request request;

  meet(); /* Late Sender, the older message from the same sender */
  if (rank == 0) {
    send(1, 1, "a1");
    tell(kSent + 0);
    hear_late(kEntering + 0, 1);
    send(1, 2, "a2");
  } else if (rank == 1) {
    hear(kSent + 0, 1);
    tell(kEntering + 0);
    receive(0, 2, "a2");
    pause_ms(kLateMs / 2);
    receive(0, 1, "a1");
  }

  meet(); /* Late Sender, the older message from another sender */
  if (ranks == 2) {
    /* there is no other sender */
  } else if (rank == 2) {
    send(1, 3, "b1");
    tell(kSent + 1);
  } else if (rank == 0) {
    hear_late(kEntering + 1, 1);
    send(1, 4, "b2");
  } else if (rank == 1) {
    hear(kSent + 1, 1);
    tell(kEntering + 1);
    receive(0, 4, "b2");
    pause_ms(kLateMs / 2);
    receive(2, 3, "b1");
  }

  meet(); /* Late Sender in the right order, at rank 2 */
  if (ranks == 2) {
  } else if (rank == 0) {
    send(2, 5, "c1");
    hear_late(kEntering + 2, 1);
    send(2, 6, "c2");
  } else if (rank == 2) {
    pause_ms(kLateMs / 2);
    receive(0, 5, "c1");
    tell(kEntering + 2);
    receive(0, 6, "c2");
  }

  meet(); /* Late Receiver, an older message (to another receiver, if there is one) under way */
  const int last = ranks - 1;
  if (rank == 0) {
    TIMED(MPI_Isend(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request),
          "send=d1 bytes_sent_p2p=4");
    tell(kEntering + 3);
    TIMED(MPI_Ssend(&value, 1, MPI_INT, last, 8, MPI_COMM_WORLD), "send=d2 bytes_sent_p2p=4");
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "finish=d1");
  }
  if (rank == last) {
    hear_late(kEntering + 3, 1);
    receive(0, 8, "d2");
    tell(kReceived + 3);
  }
  if (rank == 1) {
    hear_late(kReceived + 3, 1);
    receive(0, 7, "d1");
  }

  meet(); /* Late Receiver in the right order; from rank 1 */
  if (ranks == 2) {
  } else if (rank == 1) {
    TIMED(MPI_Isend(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request),
          "send=e1 bytes_sent_p2p=4");
    hear(kReceived + 4, 1);
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "finish=e1");
    tell(kEntering + 4);
    TIMED(MPI_Ssend(&value, 1, MPI_INT, 2, 10, MPI_COMM_WORLD), "send=e2 bytes_sent_p2p=4");
  } else if (rank == 0) {
    receive(1, 9, "e1");
    tell(kReceived + 4);
  } else if (rank == 2) {
    hear_late(kEntering + 4, 1);
    receive(1, 10, "e2");
  }

  meet(); /* completed by the same call: received together, so not in wrong order */
  MPI_Request two[2];
  int got[2];
  if (rank == 1) {
    TIMED(MPI_Irecv(&got[0], 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &two[0]), "post=f1");
    TIMED(MPI_Irecv(&got[1], 1, MPI_INT, 0, 12, MPI_COMM_WORLD, &two[1]), "post=f2");
    tell(kEntering + 5);
    TIMED(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), "recv=f1,f2 bytes_rcvd_p2p=8");
  } else if (rank == 0) {
    send(1, 12, "f2");
    hear_late(kEntering + 5, 1);
    send(1, 11, "f1");
  }

  meet();
  if (rank == 0) {
    at_least("mpi_latesender_wo", "MPI_Recv", 1, (ranks > 2 ? 2 : 1) * SURELY(kLateMs));
    if (ranks > 2) {
      at_least("mpi_latesender", "MPI_Recv", 2, SURELY(kLateMs));
      exactly_zero("mpi_latesender_wo", "*", 2);
      at_least("mpi_latereceiver", "MPI_Ssend", 1, SURELY(kLateMs));
      exactly_zero("mpi_latereceiver_wo", "MPI_Ssend", 1);
    }
    at_least("mpi_latesender", "MPI_Waitall", 1, SURELY(kLateMs));
    exactly_zero("mpi_latesender_wo", "MPI_Waitall", 1);
    at_least("mpi_latereceiver_wo", "MPI_Ssend", 0, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
