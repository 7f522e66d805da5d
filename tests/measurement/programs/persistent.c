/* Requests that are started again and again: sends of every kind, collective operations of every kind, and in MPI 4
 * partitioned messages. Each start is an operation of its own. */
#include "expect.h"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define JOIN(a, b, c) a##b##c
#define INIT(name) JOIN(MPI_, name, _init)
#endif

enum { kStarts = 8 };

static double in[256], out[256];
static int next, previous;

/* Open MPI gives a buffered send another handle at every start. */
static void buffered(int all) {
  char space[8192];
  void* detached;
  COUNT size;
  MPI_Request send, receive;
  MPI_Buffer_attach(space, sizeof space);
  MPI_Bsend_init(out, 3, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &send);
  MPI_Recv_init(in, 3, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, &receive);
  for (int i = 0; i < kStarts; ++i) {
    out[0] = i;
    if (all) {
      MPI_Startall(1, &send);
      expect("MPI_Startall send:%d:7:24#", next);
    } else {
      MPI_Start(&send);
      expect("MPI_Start send:%d:7:24#", next);
    }
    MPI_Start(&receive);
    expect("MPI_Start posted:%d:7", previous);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect("MPI_Wait recv:%d:7:24#", previous);
    check(in[0] == i, "what a persistent receive got");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    expect("MPI_Wait sent");
  }
  MPI_Request_free(&send);
  expect("MPI_Request_free");
  MPI_Request_free(&receive);
  expect("MPI_Request_free");
  MPI_Buffer_detach(&detached, &size);
  expect("MPI_Buffer_detach");
  barrier();
}

/* Several requests started and completed together. */
static void together(void) {
  char space[8192];
  void* detached;
  COUNT size;
  MPI_Request requests[4];
  MPI_Buffer_attach(space, sizeof space);
  MPI_Bsend_init(out, 1, MPI_DOUBLE, next, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Bsend_init(out, 2, MPI_DOUBLE, next, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(in, 1, MPI_DOUBLE, previous, 8, MPI_COMM_WORLD, &requests[2]);
  MPI_Recv_init(in + 8, 2, MPI_DOUBLE, previous, 9, MPI_COMM_WORLD, &requests[3]);
  for (int i = 0; i < kStarts; ++i) {
    MPI_Startall(4, requests);
    expect("MPI_Startall send:%d:8:8# send:%d:9:16# posted:%d:8 posted:%d:9", next, next, previous, previous);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall sent sent recv:%d:8:8# recv:%d:9:16#", previous, previous);
  }
  for (int i = 0; i < 4; ++i) {
    MPI_Request_free(&requests[i]);
    expect("MPI_Request_free");
  }
  MPI_Buffer_detach(&detached, &size);
  expect("MPI_Buffer_detach");
  barrier();
}

/* One after the other, the call that made it first. */
static void repeat(MPI_Request request, const char* name) {
  expect(name);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    expect("MPI_Start");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait complete:1");
  }
  MPI_Request_free(&request);
  expect("MPI_Request_free");
}

static void collectives(void) {
  MPI_Request r;
  COUNT counts[8];
  DISPLACEMENT displacements[8];
  MPI_Aint bytes[8];
  MPI_Datatype types[8];
  MPI_Comm ring;
  const int period = 1, size = ranks;
  for (int i = 0; i < 8; ++i) {
    counts[i] = 1;
    displacements[i] = i;
    bytes[i] = (MPI_Aint)(i * (int)sizeof(double));
    types[i] = MPI_DOUBLE;
  }
  INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Barrier_init");
  INIT(Bcast)(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Bcast_init");
  INIT(Scatter)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Scatter_init");
  INIT(Scatterv)(out, counts, displacements, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Scatterv_init");
  INIT(Gather)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Gather_init");
  INIT(Gatherv)(out, 1, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Gatherv_init");
  INIT(Reduce)(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Reduce_init");
  INIT(Allgather)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Allgather_init");
  INIT(Allgatherv)(out, 1, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Allgatherv_init");
  INIT(Allreduce)(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Allreduce_init");
  INIT(Alltoall)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Alltoall_init");
  INIT(Alltoallv)(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD,
                  MPI_INFO_NULL, &r);
  repeat(r, "MPI_Alltoallv_init");
  for (int i = 0; i < 8; ++i) displacements[i] = i * (int)sizeof(double);
  INIT(Alltoallw)(out, counts, displacements, types, in, counts, displacements, types, MPI_COMM_WORLD,
                  MPI_INFO_NULL, &r);
  repeat(r, "MPI_Alltoallw_init");
  INIT(Reduce_scatter)(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Reduce_scatter_init");
  INIT(Reduce_scatter_block)(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Reduce_scatter_block_init");
  INIT(Scan)(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Scan_init");
  INIT(Exscan)(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Exscan_init");

  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
  expect("MPI_Cart_create");
  for (int i = 0; i < 8; ++i) displacements[i] = i;
  INIT(Neighbor_allgather)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Neighbor_allgather_init");
  INIT(Neighbor_allgatherv)(out, 1, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, ring, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Neighbor_allgatherv_init");
  INIT(Neighbor_alltoall)(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Neighbor_alltoall_init");
  INIT(Neighbor_alltoallv)(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE, ring,
                           MPI_INFO_NULL, &r);
  repeat(r, "MPI_Neighbor_alltoallv_init");
  INIT(Neighbor_alltoallw)(out, counts, bytes, types, in, counts, bytes, types, ring, MPI_INFO_NULL, &r);
  repeat(r, "MPI_Neighbor_alltoallw_init");
  MPI_Comm_free(&ring);
  expect("MPI_Comm_free");
  barrier();
}

#if MPI_VERSION >= 4
static void partitioned(void) {
  MPI_Request send, receive;
  int flag, list[2] = {3, 0};
  for (int made = 0; made < 2; ++made) {  /* the second message of the same pair and tag is another channel */
    MPI_Psend_init(out, 4, 2, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    expect("MPI_Psend_init");
    MPI_Precv_init(in, 4, 2, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    expect("MPI_Precv_init");
    for (int i = 1; i <= 2; ++i) {
      for (int k = 0; k < 8; ++k) out[k] = 10 * i + k;
      MPI_Start(&receive);
      expect("MPI_Start part:2:%d:5:4:%d:%d:64", previous, made, i);
      MPI_Start(&send);
      expect("MPI_Start part:1:%d:5:4:%d:%d:64", next, made, i);
      MPI_Pready(1, send);
      expect("MPI_Pready ready:1:1");
      MPI_Pready_range(2, 2, send);
      expect("MPI_Pready_range ready:2:2");
      MPI_Pready_list(2, list, send);
      expect("MPI_Pready_list ready:3:3 ready:0:0");
      do {
        MPI_Parrived(receive, 3, &flag);
      } while (!flag && after_a_while());
      expect("*MPI_Parrived tested");
      expect("MPI_Parrived arrived:3");
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      expect("MPI_Wait part_end");
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      expect("MPI_Wait part_end");
      check(in[7] == 10 * i + 7, "what a partitioned receive got");
    }
    MPI_Request_free(&send);
    expect("MPI_Request_free");
    MPI_Request_free(&receive);
    expect("MPI_Request_free");
  }
  barrier();
}

/* One request for a message each way. MPICH 4.0 and 4.2 do not fill in its status: of a receive from any source nobody
 * knows what it took, and the size is unknown. */
#if defined(MPICH_NUMVERSION)
enum { kToldByStatus = 0 };
#else
enum { kToldByStatus = 1 };
#endif
static void both_ways(void) {
  MPI_Request request;
  MPI_Comm copy;
  int value = me, flag;
  for (int i = 0; i < 2; ++i) {
    MPI_Isendrecv(out, 2, MPI_DOUBLE, next, 6, in, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
    expect("MPI_Isendrecv send:%d:6:16# posted:-:6", next);
    if (i == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (kToldByStatus) {
        expect("MPI_Wait sent recv:%d:6:16#", previous);
      } else {
        expect("MPI_Wait sent freed");
      }
    } else {
      do {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      } while (!flag && after_a_while());
      expect("*MPI_Test tested");
      if (kToldByStatus) {
        expect("MPI_Test sent recv:%d:6:16#", previous);
      } else {
        expect("MPI_Test sent freed");
      }
    }
  }
  MPI_Isendrecv_replace(&value, 1, MPI_INT, next, 7, previous, 7, MPI_COMM_WORLD, &request);
  expect("MPI_Isendrecv_replace send:%d:7:4# posted:%d:7", next, previous);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait sent recv:%d:7:%d#", previous, kToldByStatus ? 4 : 0);
  check(value == previous, "what MPI_Isendrecv_replace got");

  MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy, &request);
  expect("MPI_Comm_idup_with_info");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Barrier(copy);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Comm_free(&copy);
  expect("MPI_Comm_free");
}
#endif

int main(int argc, char** argv) {
  begin(&argc, &argv);
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  buffered(0);
  buffered(1);
  together();
  collectives();
#if MPI_VERSION >= 4
  partitioned();
  both_ways();
#endif
  end();
  return 0;
}
