/* Late Receiver, in every call that waits for a receive to be posted. Rank 0 sends. What a call
 * also waited for a late sender is not counted twice, and a send that did not wait did not wait. */
#include <stdlib.h>

#include "truth.h"

enum { kEntering = 0, kEnteringSecond = 16, kLarge = 1 << 20 };

static int* large;
static int value;

static void receive(int count, int tag, const char* message) {
  TIMED(MPI_Recv(large, count, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "recv=%s bytes_rcvd_p2p=%zu", message, count * sizeof(int));
}

static void receive_late(int part, int count, int tag, const char* message) {
  hear_late(kEntering + part, 1);
  receive(count, tag, message);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  large = calloc(kLarge, sizeof(int));
  if (large == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Request request;
  MPI_Request two[2];

  meet(); /* synchronous send */
  if (rank == 0) {
    tell(kEntering + 0);
    TIMED(MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD), "send=a bytes_sent_p2p=4");
  } else if (rank == 1) {
    receive_late(0, 1, 0, "a");
  }

  meet(); /* standard send, too large to be buffered */
  if (rank == 0) {
    tell(kEntering + 1);
    TIMED(MPI_Send(large, kLarge, MPI_INT, 1, 1, MPI_COMM_WORLD), "send=b bytes_sent_p2p=%zu",
          kLarge * sizeof(int));
  } else if (rank == 1) {
    receive_late(1, kLarge, 1, "b");
  }

  meet(); /* Issend and Wait; the receive is an Irecv, whose own Wait comes later still */
  if (rank == 0) {
    TIMED(MPI_Issend(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request),
          "send=c bytes_sent_p2p=4");
    tell(kEntering + 2);
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "finish=c");
  } else if (rank == 1) {
    hear_late(kEntering + 2, 1);
    TIMED(MPI_Irecv(large, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request), "post=c");
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "recv=c bytes_rcvd_p2p=4");
  }

  meet(); /* Waitall over two: the later receiver decides */
  if (ranks == 2) {
    /* there is no second receiver */
  } else if (rank == 0) {
    TIMED(MPI_Issend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &two[0]),
          "send=d1 bytes_sent_p2p=4");
    TIMED(MPI_Issend(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, &two[1]),
          "send=d2 bytes_sent_p2p=4");
    tell(kEntering + 3);
    TIMED(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), "finish=d1,d2");
  } else if (rank == 1) {
    hear_late(kEntering + 3, 1);
    tell(kEnteringSecond + 3);
    receive(1, 3, "d1");
  } else if (rank == 2) {
    hear_late(kEnteringSecond + 3, 1);
    receive(1, 3, "d2");
  }

  meet(); /* Sendrecv: it waits 60 ms for its receiver and 60 ms more for its sender: all Late
             Sender */
  if (ranks == 2) {
  } else if (rank == 0) {
    tell(kEntering + 4);
    TIMED(MPI_Sendrecv(large, kLarge, MPI_INT, 1, 4, &value, 1, MPI_INT, 2, 4, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
          "send=e1 recv=e2 bytes_sent_p2p=%zu bytes_rcvd_p2p=4", kLarge * sizeof(int));
  } else if (rank == 1) {
    hear_late(kEntering + 4, 1);
    tell(kEnteringSecond + 4);
    receive(kLarge, 4, "e1");
  } else if (rank == 2) {
    hear_late(kEnteringSecond + 4, 1);
    TIMED(MPI_Ssend(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD), "send=e2 bytes_sent_p2p=4");
  }

  meet(); /* Sendrecv: the sender came first, the receiver is late: all Late Receiver */
  if (ranks == 2) {
  } else if (rank == 0) {
    hear_late(kEnteringSecond + 5, 1);
    tell(kEntering + 5);
    TIMED(MPI_Sendrecv(large, kLarge, MPI_INT, 1, 5, &value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
          "send=f1 recv=f2 bytes_sent_p2p=%zu bytes_rcvd_p2p=4", kLarge * sizeof(int));
  } else if (rank == 1) {
    receive_late(5, kLarge, 5, "f1");
  } else if (rank == 2) {
    tell(kEnteringSecond + 5);
    TIMED(MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD), "send=f2 bytes_sent_p2p=4");
  }

  meet(); /* a buffered send and an Ibsend's Wait do not wait, however late the receiver */
  if (rank == 0) {
    const int size = 2 * ((int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void* buffer = malloc((size_t)size);
    if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Buffer_attach(buffer, size);
    TIMED(MPI_Bsend(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD), "send=g1 bytes_sent_p2p=4");
    TIMED(MPI_Ibsend(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request),
          "send=g2 bytes_sent_p2p=4");
    pause_ms(1);
    TIMED(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE), "finish=g2");
    tell(kEntering + 6);
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
  } else if (rank == 1) {
    hear_late(kEntering + 6, 1);
    receive(1, 6, "g1");
    receive(1, 6, "g2");
  }

  meet();
  free(large);
  if (rank == 0) {
    at_least("mpi_latereceiver", "MPI_Ssend", 0, SURELY(kLateMs));
    at_least("mpi_latereceiver", "MPI_Send", 0, SURELY(kLateMs));
    at_least("mpi_latereceiver", "MPI_Wait", 0, SURELY(kLateMs));
    if (ranks > 2) {
      at_least("mpi_latereceiver", "MPI_Waitall", 0, 2 * SURELY(kLateMs));
      at_least("mpi_latereceiver", "MPI_Sendrecv", 0, SURELY(kLateMs));
      at_least("mpi_latesender", "MPI_Sendrecv", 0, 2 * SURELY(kLateMs));
    }
    exactly_zero("mpi_latereceiver", "MPI_Issend", 0);
    exactly_zero("mpi_latereceiver", "MPI_Bsend", 0);
    exactly_zero("mpi_latereceiver", "*", 1);
  }
  truth_end();
  return 0;
}
