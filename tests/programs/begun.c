/* Non-blocking collectives: the Wait that completes one waits for whom the blocking form would. The
 * last process begins each operation late, so it is the others' Waits that wait; of rooted ones the
 * last process is the root, or one of those that contribute. */
#include "truth.h"

static int own[4], all[4];
static MPI_Request one, two;

static void late_last(void) {
  come_late(AT(ranks - 1));
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  const int last = ranks - 1;
  meet();

  late_last();
  TIMED(MPI_Ibarrier(MPI_COMM_WORLD, &one), "begun=world form=MPI_Barrier request=a");
  TIMED(MPI_Wait(&one, MPI_STATUS_IGNORE), "ends=a class=barrier");
  meet();

  late_last();
  TIMED(MPI_Iallreduce(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &one),
        "begun=world form=MPI_Allreduce request=b");
  TIMED(MPI_Wait(&one, MPI_STATUS_IGNORE), "ends=b");
  meet();

  late_last(); /* the root is late */
  TIMED(MPI_Ibcast(own, 1, MPI_INT, last, MPI_COMM_WORLD, &one),
        "begun=world form=MPI_Bcast root=%d request=c", last);
  TIMED(MPI_Wait(&one, MPI_STATUS_IGNORE), "ends=c");
  meet();

  late_last(); /* one that contributes is late */
  TIMED(MPI_Ireduce(own, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &one),
        "begun=world form=MPI_Reduce root=0 request=d");
  TIMED(MPI_Wait(&one, MPI_STATUS_IGNORE), "ends=d");
  meet();

  come_late(AT(0)); /* the lowest rank is late */
  TIMED(MPI_Iscan(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &one),
        "begun=world form=MPI_Scan place=%d request=e", rank);
  TIMED(MPI_Wait(&one, MPI_STATUS_IGNORE), "ends=e");
  meet();

  /* Two at once: Waitall waits for the later. */
  TIMED(MPI_Iallreduce(own, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &one),
        "begun=world form=MPI_Allreduce request=f");
  late_last();
  int sum[1], mine[1] = {1};
  TIMED(MPI_Iallreduce(mine, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &two),
        "begun=world form=MPI_Allreduce request=g");
  MPI_Request both[2] = {one, two};
  TIMED(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), "ends=f,g");
  meet();

  /* The Wait comes when all have begun: nothing is left to wait for. */
  TIMED(MPI_Ibarrier(MPI_COMM_WORLD, &one), "begun=world form=MPI_Barrier request=h");
  meet();
  TIMED(MPI_Waitsome(1, &one, (int[1]){0}, (int[1]){0}, MPI_STATUSES_IGNORE),
        "ends=h class=barrier");
  if (rank == 0) {
    at_least("mpi_barrier_wait", "MPI_Wait", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Wait", 0, SURELY(kLateMs));
    at_least("mpi_wait_nxn", "MPI_Waitall", 0, SURELY(kLateMs));
    at_least("mpi_latebroadcast", "MPI_Wait", 0, SURELY(kLateMs));
    at_least("mpi_reduce_wait", "MPI_Wait", 0, SURELY(kLateMs));
    at_least("mpi_earlyscan", "MPI_Wait", ranks - 1, SURELY(kLateMs));
    exactly_zero("mpi_barrier_wait", "MPI_Waitsome", 0);
  }
  truth_end();
  return 0;
}
