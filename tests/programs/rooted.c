/* Late Broadcast and Early Reduce, on MPI_COMM_WORLD with root 1 and on a communicator that holds
 * the processes in reverse order, so that its root 0 is the last one. */
#include "truth.h"

static int own[4];
static int all[4];
static int counts[4] = {1, 1, 1, 1};
static int places[4] = {0, 1, 2, 3};

static void one_to_all(MPI_Comm comm, const char* name, int root, int world_root) {
  const int at_root = rank == world_root;
  come_late(AT(world_root));
  TIMED(MPI_Bcast(own, 1, MPI_INT, root, comm),
        "comm=%s root=%d bytes_sent_coll=%d bytes_rcvd_coll=%d", name, world_root, at_root ? 4 : 0,
        at_root ? 0 : 4);
  meet();
  come_late(AT(world_root));
  TIMED(MPI_Scatter(all, 1, MPI_INT, own, 1, MPI_INT, root, comm),
        "comm=%s root=%d bytes_sent_coll=%d bytes_rcvd_coll=4", name, world_root,
        at_root ? 4 * ranks : 0);
  meet();
  come_late(AT(world_root));
  TIMED(MPI_Scatterv(all, counts, places, MPI_INT, own, 1, MPI_INT, root, comm),
        "comm=%s root=%d bytes_sent_coll=%d bytes_rcvd_coll=4", name, world_root,
        at_root ? 4 * ranks : 0);
  meet();
}

static void all_to_one(MPI_Comm comm, const char* name, int root, int world_root) {
  const int at_root = rank == world_root;
  const unsigned others = ((1u << ranks) - 1) & ~AT(world_root);
  come_late(others);
  TIMED(MPI_Reduce(own, all, 1, MPI_INT, MPI_SUM, root, comm),
        "comm=%s root=%d bytes_sent_coll=4 bytes_rcvd_coll=%d", name, world_root, at_root ? 4 : 0);
  meet();
  come_late(others);
  TIMED(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, root, comm),
        "comm=%s root=%d bytes_sent_coll=4 bytes_rcvd_coll=%d", name, world_root,
        at_root ? 4 * ranks : 0);
  meet();
  come_late(others);
  TIMED(MPI_Gatherv(own, 1, MPI_INT, all, counts, places, MPI_INT, root, comm),
        "comm=%s root=%d bytes_sent_coll=4 bytes_rcvd_coll=%d", name, world_root,
        at_root ? 4 * ranks : 0);
  meet();
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  meet();
  one_to_all(MPI_COMM_WORLD, "world", 1, 1);
  one_to_all(reversed, "reversed", 0, ranks - 1);
  all_to_one(MPI_COMM_WORLD, "world", 1, 1);
  all_to_one(reversed, "reversed", 0, ranks - 1);
  MPI_Comm_free(&reversed);
  if (rank == 0) {
    static const char* const to_all[] = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"};
    static const char* const to_one[] = {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"};
    for (int f = 0; f < 3; ++f) {
      at_least("mpi_latebroadcast", to_all[f], 0, 2 * SURELY(kLateMs));
      for (int r = 1; r < ranks && ranks > 2; r += ranks - 2)
        at_least("mpi_latebroadcast", to_all[f], r, SURELY(kLateMs));
      at_least("mpi_earlyreduce", to_one[f], 1, SURELY(kLateMs));
      at_least("mpi_earlyreduce", to_one[f], ranks - 1, SURELY(kLateMs));
      exactly_zero("mpi_earlyreduce", to_one[f], 0);
    }
  }
  truth_end();
  return 0;
}
