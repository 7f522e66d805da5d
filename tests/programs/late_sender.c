/* Late Sender, in every call that completes a receive: a wait for several messages ends with the
 * last of them (MPI_Waitall) or with the first (MPI_Waitany, MPI_Waitsome). Rank 0 receives. */
#include "truth.h"

enum { kEntering = 0, kEnteringSecond = 16, kSent = 32 };

static int value;

static void send_late(int part, int tag, const char* message) {
  hear_late(kEntering + part, 1);
  TIMED(MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD), "send=%s bytes_sent_p2p=4", message);
}

/* By rank 2: 60 ms after rank 1 was about to send its own. */
static void send_later(int part, int tag, const char* message) {
  hear_late(kEnteringSecond + part, 1);
  TIMED(MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD), "send=%s bytes_sent_p2p=4", message);
}

static void post_two(int tag, int buffers[2], MPI_Request requests[2], const char* one,
                     const char* two) {
  TIMED(MPI_Irecv(&buffers[0], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[0]), "post=%s", one);
  TIMED(MPI_Irecv(&buffers[1], 1, MPI_INT, 2, tag, MPI_COMM_WORLD, &requests[1]), "post=%s", two);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  int got[2];
  int out = rank;
  MPI_Request request;
  MPI_Request two[2];

  meet(); /* Recv, from anyone */
  if (rank == 0) {
    tell(kEntering + 0);
    TIMED(MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "recv=a bytes_rcvd_p2p=4");
  } else if (rank == 1) {
    send_late(0, 7, "a");
  }

  meet(); /* Irecv and Wait */
  if (rank == 0) {
    TIMED(MPI_Irecv(got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request), "post=b");
    tell(kEntering + 1);
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "recv=b bytes_rcvd_p2p=4");
  } else if (rank == 1) {
    send_late(1, 1, "b");
  }

  meet(); /* Waitall: the later sender decides, 2 x 60 ms */
  if (ranks == 2) {
    /* there is no second sender */
  } else if (rank == 0) {
    post_two(2, got, two, "c1", "c2");
    tell(kEntering + 2);
    TIMED(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), "recv=c1,c2 bytes_rcvd_p2p=8");
  } else if (rank == 1) {
    hear_late(kEntering + 2, 1);
    tell(kEnteringSecond + 2);
    TIMED(MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_WORLD), "send=c1 bytes_sent_p2p=4");
  } else if (rank == 2) {
    send_later(2, 2, "c2");
  }

  meet(); /* Waitany: the earlier sender decides, the other one is late for MPI_Wait */
  if (ranks == 2) {
  } else if (rank == 0) {
    int which;
    post_two(3, got, two, "d1", "d2");
    tell(kEntering + 3);
    TIMED(MPI_Waitany(2, two, &which, MPI_STATUS_IGNORE), "recv=d%d bytes_rcvd_p2p=4", which + 1);
    const int other = 1 - which;
    tell(kEnteringSecond + 3);
    TIMED(MPI_Wait(&two[other], MPI_STATUS_IGNORE), "recv=d%d bytes_rcvd_p2p=4", other + 1);
  } else if (rank == 1) {
    send_late(3, 3, "d1");
  } else if (rank == 2) {
    send_later(3, 3, "d2");
  }

  meet(); /* Waitsome: one message is there already, the other sender is late */
  if (ranks == 2) {
  } else if (rank == 0) {
    int some;
    int which[2];
    post_two(4, got, two, "e1", "e2");
    hear_late(kSent, 1);
    tell(kEntering + 4);
    TIMED(MPI_Waitsome(2, two, &some, which, MPI_STATUSES_IGNORE), "recv=%s bytes_rcvd_p2p=%d",
          some == 2       ? "e1,e2"
          : which[0] == 0 ? "e1"
                          : "e2",
          4 * some);
    while (some == 1) { /* the one still missing */
      TIMED(MPI_Waitsome(2, two, &some, which, MPI_STATUSES_IGNORE), "recv=%s bytes_rcvd_p2p=4",
            which[0] == 0 ? "e1" : "e2");
      some = 2;
    }
  } else if (rank == 1) {
    TIMED(MPI_Send(&out, 1, MPI_INT, 0, 4, MPI_COMM_WORLD), "send=e1 bytes_sent_p2p=4");
    tell(kSent);
  } else if (rank == 2) {
    hear_late(kEntering + 4, 1);
    TIMED(MPI_Send(&out, 1, MPI_INT, 0, 4, MPI_COMM_WORLD), "send=e2 bytes_sent_p2p=4");
  }

  meet(); /* Sendrecv: its receive half */
  if (rank < 2) {
    const int other = 1 - rank;
    if (rank == 1) hear_late(kEntering + 5, 1);
    if (rank == 0) tell(kEntering + 5);
    TIMED(MPI_Sendrecv(&out, 1, MPI_INT, other, 5, got, 1, MPI_INT, other, 5, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
          "send=f%d recv=f%d bytes_sent_p2p=4 bytes_rcvd_p2p=4", rank, other);
  }

  meet(); /* a loop of tests waits, too */
  if (rank == 0) {
    TIMED(MPI_Irecv(got, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request), "post=g");
    int done = 0;
    POLLED(MPI_Test(&request, &done, MPI_STATUS_IGNORE), done, tell_and_sleep(kEntering + 6),
           "recv=g bytes_rcvd_p2p=4 polls=%d", polls);
  } else if (rank == 1) {
    send_late(6, 6, "g");
  }

  meet();
  if (rank == 0) {
    at_least("mpi_latesender", "MPI_Recv", 0, SURELY(kLateMs));
    at_least("mpi_latesender", "MPI_Wait", 0, (ranks > 2 ? 2 : 1) * SURELY(kLateMs));
    if (ranks > 2) {
      at_least("mpi_latesender", "MPI_Waitall", 0, 2 * SURELY(kLateMs));
      at_least("mpi_latesender", "MPI_Waitany", 0, SURELY(kLateMs));
      exactly_zero("mpi_latesender", "*", 2);
    }
    at_least("mpi_latesender", "MPI_Sendrecv", 0, SURELY(kLateMs));
    at_least("mpi_latesender", "MPI_Test", 0, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
