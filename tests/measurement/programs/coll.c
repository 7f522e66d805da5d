/* Every blocking collective, with MPI_IN_PLACE and on an intercommunicator: root and bytes as coll_bytes.h defines
 * them. n processes; blocks of 2 doubles (16 bytes) unless said otherwise. */
#include "expect.h"

static double in[1024], out[1024];
static COUNT counts[64];
static DISPLACEMENT displacements[64], byte_displacements[64];
static MPI_Datatype types[64];

/* counts[i] = i + 1, so n blocks hold n(n+1)/2 items */
static int all_items(void) { return ranks * (ranks + 1) / 2; }

static void rooted(int root) {
  const int is_root = me == root;
  MPI_Bcast(in, 3, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Bcast coll:%d:%d:%d", root, is_root ? 24 : 0, is_root ? 0 : 24);
  MPI_Scatter(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Scatter coll:%d:%d:16", root, is_root ? 16 * ranks : 0);
  MPI_Scatter(out, 2, MPI_DOUBLE, is_root ? MPI_IN_PLACE : in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Scatter coll:%d:%d:%d", root, is_root ? 16 * (ranks - 1) : 0, is_root ? 0 : 16);
  MPI_Scatterv(out, counts, displacements, MPI_DOUBLE, in, me + 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Scatterv coll:%d:%d:%d", root, is_root ? 8 * all_items() : 0, 8 * (me + 1));
  MPI_Gather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Gather coll:%d:16:%d", root, is_root ? 16 * ranks : 0);
  MPI_Gather(is_root ? MPI_IN_PLACE : out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
  expect("MPI_Gather coll:%d:%d:%d", root, is_root ? 0 : 16, is_root ? 16 * (ranks - 1) : 0);
  MPI_Gatherv(is_root ? MPI_IN_PLACE : out, me + 1, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, root,
              MPI_COMM_WORLD);
  expect("MPI_Gatherv coll:%d:%d:%d", root, is_root ? 0 : 8 * (me + 1), is_root ? 8 * (all_items() - (me + 1)) : 0);
  MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  expect("MPI_Reduce coll:%d:16:%d", root, is_root ? 16 : 0);
}

static void all_to_all(void) {
  MPI_Allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Allgather coll:-:16:%d", 16 * ranks);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Allgather coll:-:16:%d", 16 * (ranks - 1));
  MPI_Allgatherv(out, me + 1, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Allgatherv coll:-:%d:%d", 8 * (me + 1), 8 * all_items());
  MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Allreduce coll:-:16:16");
  MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Allreduce coll:-:16:16");
  MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Alltoall coll:-:%d:%d", 16 * ranks, 16 * ranks);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Alltoall coll:-:%d:%d", 16 * (ranks - 1), 16 * (ranks - 1));
  for (int i = 0; i < ranks; ++i) counts[i] = 2;
  MPI_Alltoallv(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD);
  expect("MPI_Alltoallv coll:-:%d:%d", 16 * ranks, 16 * ranks);
  MPI_Alltoallw(out, counts, byte_displacements, types, in, counts, byte_displacements, types, MPI_COMM_WORLD);
  expect("MPI_Alltoallw coll:-:%d:%d", 16 * ranks, 16 * ranks);
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Reduce_scatter coll:-:%d:16", 16 * ranks);
  MPI_Reduce_scatter_block(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Reduce_scatter_block coll:-:%d:16", 16 * ranks);
  MPI_Scan(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Scan coll:-:16:16");
  MPI_Exscan(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Exscan coll:-:16:%d", me == 0 ? 0 : 16);
}

static void neighbours(void) {
  MPI_Comm ring, graph;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  expect("MPI_Cart_create");
  MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring);
  expect("MPI_Neighbor_allgather coll:-:16:32");
  MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring);
  expect("MPI_Neighbor_alltoall coll:-:32:32");
  MPI_Comm_free(&ring);
  expect("MPI_Comm_free");
  /* Everybody sends to rank 0. */
  int destination = 0, sources[64], weights[64];
  for (int i = 0; i < ranks; ++i) sources[i] = i, weights[i] = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, me == 0 ? ranks : 0, sources, weights, 1, &destination, weights,
                                 MPI_INFO_NULL, 0, &graph);
  expect("MPI_Dist_graph_create_adjacent");
  MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, graph);
  expect("MPI_Neighbor_alltoall coll:-:16:%d", me == 0 ? 16 * ranks : 0);
  MPI_Comm_free(&graph);
  expect("MPI_Comm_free");
}

/* Rank 0 is one side, the others are the other side. */
static void between_groups(void) {
  MPI_Comm side, inter;
  const int others = ranks - 1, alone = me == 0;
  MPI_Comm_split(MPI_COMM_WORLD, alone, me, &side);
  expect("MPI_Comm_split");
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, alone ? 1 : 0, 77, &inter);
  expect("MPI_Intercomm_create");
  MPI_Barrier(inter);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Bcast(in, 1, MPI_DOUBLE, alone ? MPI_ROOT : 0, inter);
  expect("MPI_Bcast coll:0:%d:%d", alone ? 8 : 0, alone ? 0 : 8);
  /* The root is rank 0 of the larger side, world rank 1; its fellows take part with nothing. */
  MPI_Bcast(in, 1, MPI_DOUBLE, alone ? 0 : (me == 1 ? MPI_ROOT : MPI_PROC_NULL), inter);
  if (alone) {
    expect("MPI_Bcast coll:1:0:8");
  } else if (me == 1) {
    expect("MPI_Bcast coll:1:8:0");
  } else {
    expect("MPI_Bcast coll:-:0:0");
  }
  MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, alone ? MPI_ROOT : 0, inter);
  expect("MPI_Gather coll:0:%d:%d", alone ? 0 : 8, alone ? 8 * others : 0);
  MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, inter);
  expect("MPI_Allgather coll:-:8:%d", alone ? 8 * others : 8);
  if (me < 2) {
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, 3, in, 1, MPI_DOUBLE, 0, 3, inter, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv send:%d:3:8 recv:%d:3:8", 1 - me, 1 - me);
  }
  MPI_Comm_free(&inter);
  expect("MPI_Comm_free");
  MPI_Comm_free(&side);
  expect("MPI_Comm_free");
}

static void nonblocking(void) {
  MPI_Request request[2];
  MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
  expect("MPI_Ibarrier");
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  expect("MPI_Wait complete:1");
  MPI_Iallreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Iallreduce");
  MPI_Ibcast(in + 8, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request[1]);
  expect("MPI_Ibcast");
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall complete:1 complete:1");
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < ranks; ++i) {
    counts[i] = i + 1;
    displacements[i] = i * (i + 1) / 2;
    byte_displacements[i] = 16 * i;
    types[i] = MPI_DOUBLE;
  }
  barrier();
  rooted(0);
  rooted(ranks - 1);
  all_to_all();
  neighbours();
  if (ranks > 2) between_groups();
  nonblocking();
  end();
  return 0;
}
