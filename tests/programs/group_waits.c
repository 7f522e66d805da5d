/* Calls that a group makes together, neighbourhood collectives, and probes. Creation of
 * communicators and opening a file wait for the last; so does MPI_Finalize. In a row of processes
 * without a ring, each waits for those beside it only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

enum { kProbing, kMatching };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 4);
  meet();
  come_late(AT(2));
  MPI_Comm copy, half, row;
  TIMED(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "group_call=dup wait=mpi_comm_create_wait");
  meet();
  come_late(AT(1));
  TIMED(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half),
        "group_call=split wait=mpi_comm_create_wait");
  meet();
  come_late(AT(0));
  const int size = 4, open_ends = 0;
  TIMED(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open_ends, 0, &row),
        "group_call=cart wait=mpi_comm_create_wait");

  /* 3 is late: 2 waits for it, 0 and 1 do not. */
  meet();
  int own[4] = {rank}, all[8];
  const char* const near[] = {"1", "0,2", "1,3", "2"};
  const int blocks = rank == 0 || rank == 3 ? 1 : 2;
  come_late(AT(3));
  TIMED(MPI_Neighbor_allgather(own, 1, MPI_INT, all, 1, MPI_INT, row),
        "comm=row near=%s bytes_sent_coll=4 bytes_rcvd_coll=%d", near[rank], 4 * blocks);
  meet();
  /* A graph: everybody receives from 0 only. */
  MPI_Comm graph;
  const int in[1] = {0}, out[3] = {1, 2, 3}, weights[3] = {1, 1, 1};
  TIMED(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank != 0, in, weights, rank == 0 ? 3 : 0,
                                       out, weights, MPI_INFO_NULL, 0, &graph),
        "group_call=graph wait=mpi_comm_create_wait");
  meet();
  come_late(AT(0));
  TIMED(MPI_Neighbor_alltoall(own, 1, MPI_INT, all, 1, MPI_INT, graph),
        "comm=graph near=%s bytes_sent_coll=%d bytes_rcvd_coll=%d", rank == 0 ? "" : "0",
        rank == 0 ? 12 : 0, rank == 0 ? 0 : 4);
  meet();

  /* Probes: the message is sent late. */
  int value = 0;
  MPI_Message message;
  if (rank == 0) {
    hear_late(kProbing, 1);
    TIMED(MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD), "send=m bytes_sent_p2p=4");
    hear_late(kMatching, 1);
    TIMED(MPI_Send(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD), "send=n bytes_sent_p2p=4");
  } else if (rank == 1) {
    tell(kProbing);
    TIMED(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "found=m");
    TIMED(MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "recv=m bytes_rcvd_p2p=4");
    tell(kMatching);
    TIMED(MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE),
          "found=n post=n");
    TIMED(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), "recv=n bytes_rcvd_p2p=4");
  }
  meet();

  /* A file: its name is the notes' with an ending. */
  char name[512];
  snprintf(name, sizeof name, "%s.data", getenv("KOJAK_TRUTH"));
  MPI_File file;
  come_late(AT(1));
  TIMED(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        "group_call=open wait=mpi_io_wait");
  meet();
  TIMED(MPI_File_close(&file), "group_call=close wait=mpi_io_wait");
  meet();
  if (rank == 0) {
    for (int r = 0; r < 4; ++r) {
      at_least("mpi_comm_create_wait", "*", r, SURELY(kLateMs));
      if (r != 0) at_least("mpi_wait_neighbours", "MPI_Neighbor_alltoall", r, SURELY(kLateMs));
      if (r != 1) at_least("mpi_io_wait", "MPI_File_open", r, SURELY(kLateMs));
    }
    at_least("mpi_wait_neighbours", "MPI_Neighbor_allgather", 2, SURELY(kLateMs));
    at_least("mpi_latesender", "MPI_Probe", 1, SURELY(kLateMs));
    at_least("mpi_latesender", "MPI_Mprobe", 1, SURELY(kLateMs));
    exactly_zero("mpi_latesender", "MPI_Mrecv", 1);
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&row);
  MPI_Comm_free(&graph);
  meet();
  come_late(AT(3));
  truth_end();
  return 0;
}
