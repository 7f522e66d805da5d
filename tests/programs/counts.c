/* Visits and bytes, exactly: every kind of transfer and message, empty ones, ones to MPI_PROC_NULL,
 * derived datatypes whose extent is not their size, collectives with and without MPI_IN_PLACE. */
#include "truth.h"

static int memory[256];
static int local[256];

static void transfers(MPI_Datatype every_other) {
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  const int to = (rank + 1) % ranks;
  TIMED(MPI_Win_fence(0, win), "win=0");
  TIMED(MPI_Put(local, 3 + rank, MPI_INT, to, 0, 3 + rank, MPI_INT, win),
        "win=0 to=%d bytes_put=%d", to, 4 * (3 + rank));
  TIMED(MPI_Put(local, 0, MPI_INT, to, 0, 0, MPI_INT, win), "win=0 to=%d bytes_put=0", to);
  TIMED(MPI_Put(local, 9, MPI_INT, MPI_PROC_NULL, 0, 9, MPI_INT, win), "win=0");
  /* 2 x 5 of every other int leave here, 10 ints arrive there. */
  TIMED(MPI_Put(local, 2, every_other, to, 16, 10, MPI_INT, win), "win=0 to=%d bytes_put=40", to);
  TIMED(MPI_Accumulate(local, 7, MPI_INT, to, 32, 7, MPI_INT, MPI_SUM, win),
        "win=0 to=%d bytes_put=28", to);
  TIMED(MPI_Win_fence(0, win), "win=0");
  TIMED(MPI_Get(local, 11, MPI_INT, to, 0, 11, MPI_INT, win), "win=0 to=%d bytes_get=44", to);
  TIMED(MPI_Get(local, 10, MPI_INT, to, 64, 2, every_other, win), "win=0 to=%d bytes_get=40", to);
  TIMED(MPI_Get(local, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, win), "win=0");
  TIMED(MPI_Win_fence(0, win), "win=0");
  TIMED(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win), "win=0");
  TIMED(MPI_Put(local, 2, MPI_DOUBLE, to, 0, 2, MPI_DOUBLE, win), "win=0 to=%d bytes_put=16", to);
  TIMED(MPI_Win_unlock(to, win), "win=0");
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
  TIMED(MPI_Win_free(&win), "win=0");
}

static void messages(int round, MPI_Datatype every_other) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int right = (rank + 1) % ranks;
  const int left = (rank + ranks - 1) % ranks;
  MPI_Request requests[4];
  int in[64];
  TIMED(MPI_Irecv(in, 64, MPI_INT, left, 0, world, &requests[0]), "post=a%d.%d", left, round);
  TIMED(MPI_Irecv(in, 0, MPI_INT, left, 1, world, &requests[1]), "post=b%d.%d", left, round);
  TIMED(MPI_Isend(local, 5 + rank, MPI_INT, right, 0, world, &requests[2]),
        "send=a%d.%d bytes_sent_p2p=%d", rank, round, 4 * (5 + rank));
  TIMED(MPI_Isend(local, 0, MPI_INT, right, 1, world, &requests[3]), "send=b%d.%d bytes_sent_p2p=0",
        rank, round);
  TIMED(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE),
        "recv=a%d.%d,b%d.%d finish=a%d.%d,b%d.%d bytes_rcvd_p2p=%d", left, round, left, round, rank,
        round, rank, round, 4 * (5 + left));
  /* Received are the bytes that came, not those there was room for. */
  TIMED(MPI_Sendrecv(local, 1, every_other, right, 2, in, 64, MPI_INT, left, 2, world,
                     MPI_STATUS_IGNORE),
        "send=c%d.%d recv=c%d.%d bytes_sent_p2p=20 bytes_rcvd_p2p=20", rank, round, left, round);
  TIMED(MPI_Send(local, 8, MPI_INT, MPI_PROC_NULL, 3, world), "%s", "");
  TIMED(MPI_Recv(in, 8, MPI_INT, MPI_PROC_NULL, 3, world, MPI_STATUS_IGNORE), "%s", "");
  meet();
  if (rank == 0)
    TIMED(MPI_Send(local, 6, MPI_CHAR, 3, 4, world), "send=d.%d bytes_sent_p2p=6", round);
  if (rank == 3)
    TIMED(MPI_Recv(in, 64, MPI_CHAR, 0, 4, world, MPI_STATUS_IGNORE), "recv=d.%d bytes_rcvd_p2p=6",
          round);
}

static void collectives(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  int in[64] = {0};
  const int root = rank == 2;
  TIMED(MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, world),
        "comm=world bytes_sent_coll=12 bytes_rcvd_coll=12");
  TIMED(MPI_Allgather(local, 2, MPI_INT, in, 2, MPI_INT, world),
        "comm=world bytes_sent_coll=8 bytes_rcvd_coll=32");
  /* In place the own block stays where it is: it goes to the others, but does not come here. */
  TIMED(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, world),
        "comm=world bytes_sent_coll=8 bytes_rcvd_coll=24");
  TIMED(MPI_Bcast(in, 5, MPI_INT, 2, world),
        "comm=world root=2 bytes_sent_coll=%d bytes_rcvd_coll=%d", root ? 20 : 0, root ? 0 : 20);
  TIMED(MPI_Gather(local, 3, MPI_INT, in, 3, MPI_INT, 2, world),
        "comm=world root=2 bytes_sent_coll=12 bytes_rcvd_coll=%d", root ? 48 : 0);
  TIMED(MPI_Gather(root ? MPI_IN_PLACE : local, 3, MPI_INT, in, 3, MPI_INT, 2, world),
        "comm=world root=2 bytes_sent_coll=%d bytes_rcvd_coll=%d", root ? 0 : 12, root ? 36 : 0);
  TIMED(MPI_Scatter(local, 2, MPI_INT, in, 2, MPI_INT, 2, world),
        "comm=world root=2 bytes_sent_coll=%d bytes_rcvd_coll=8", root ? 32 : 0);
  TIMED(MPI_Alltoall(local, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, world),
        "comm=world bytes_sent_coll=32 bytes_rcvd_coll=32");
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  MPI_Datatype every_other;
  MPI_Type_vector(5, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int round = 0; round < 2; ++round) {
    meet();
    transfers(every_other);
    meet();
    messages(round, every_other);
    meet();
    collectives();
  }
  MPI_Type_free(&every_other);
  if (rank == 0) {
    /* Per round: put 4 x (3 + rank) + 40 + 16, accumulate 28, get 44 + 40. */
    for (int r = 0; r < ranks; ++r) {
      at_least("bytes_put", "MPI_Put", r, 2 * (4 * (3 + r) + 40 + 16));
      at_least("bytes_put", "MPI_Accumulate", r, 2 * 28);
      at_least("bytes_get", "MPI_Get", r, 2 * (44 + 40));
      at_least("visits", "MPI_Put", r, 2 * 5);
    }
  }
  truth_end();
  return 0;
}
