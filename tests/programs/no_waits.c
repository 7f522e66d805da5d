/* Everything in the right order, so that nobody has a reason to wait: each call whose absence would
 * be waited for is entered long before the other side needs it. */
#include "truth.h"

enum { kPosted, kCompleting, kSending, kReceiving };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  static int memory[64];
  int value = rank;
  int sum = 0;
  MPI_Win win;
  meet();
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  meet();
  TIMED(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), "win=0 noprecede=1");
  TIMED(MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win),
        "win=0 to=%d bytes_put=4", (rank + 1) % ranks);
  meet();
  TIMED(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), "win=0");

  /* Post before start, complete before wait: 0 and 1 are origins, 2 and 3 targets. */
  meet();
  Members origins = members_of(AT(0) | AT(1));
  Members targets = members_of(AT(2) | AT(3));
  if (rank >= 2) {
    TIMED(MPI_Win_post(origins.group, 0, win), "win=0 group=%s", origins.list);
    tell(kPosted);
    hear_late(kCompleting, 2);
    TIMED(MPI_Win_wait(win), "win=0");
  } else {
    hear_late(kPosted, 2);
    TIMED(MPI_Win_start(targets.group, 0, win), "win=0 group=%s", targets.list);
    for (int target = 2; target < 4; ++target) {
      TIMED(MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, win), "win=0 to=%d bytes_put=4",
            target);
      TIMED(MPI_Get(&sum, 1, MPI_INT, target, 8, 1, MPI_INT, win), "win=0 to=%d bytes_get=4",
            target);
    }
    tell(kCompleting);
    TIMED(MPI_Win_complete(win), "win=0");
  }

  /* A message that is there when it is received. */
  meet();
  if (rank % 2 == 0) {
    TIMED(MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD), "send=a%d bytes_sent_p2p=4",
          rank);
    tell(kSending);
  } else {
    hear_late(kSending, 2);
    TIMED(MPI_Recv(&sum, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "recv=a%d bytes_rcvd_p2p=4", rank - 1);
  }

  /* A receive that is posted when its message is sent. */
  meet();
  if (rank % 2 == 0) {
    hear_late(kReceiving, 2);
    TIMED(MPI_Ssend(&value, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD), "send=b%d bytes_sent_p2p=4",
          rank);
  } else {
    MPI_Request request;
    TIMED(MPI_Irecv(&sum, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, &request), "post=b%d", rank - 1);
    tell(kReceiving);
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE), "recv=b%d bytes_rcvd_p2p=4", rank - 1);
  }

  meet();
  TIMED(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        "comm=world bytes_sent_coll=4 bytes_rcvd_coll=4");
  meet();
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&origins);
  members_free(&targets);
  if (rank == 0) {
    for (int r = 0; r < ranks; ++r) {
      exactly_zero("mpi_rma_latepost+mpi_rma_latepost_first+mpi_rma_earlytransfer", "*", r);
      exactly_zero("mpi_rma_earlywait+mpi_rma_latecomplete+mpi_rma_latecomplete_pair", "*", r);
      exactly_zero("mpi_latereceiver+mpi_latereceiver_wo+mpi_latesender_wo", "*", r);
      exactly_zero("mpi_latesender", "MPI_Recv", r);
    }
  }
  truth_end();
  return 0;
}
