/* More bytes than 32 bits hold, by types whose parts lie at one address: counts are recorded in full. */
#include "expect.h"

int main(int argc, char** argv) {
  static char one[1 << 20];
  MPI_Datatype block, huge;
  MPI_Request request;
  begin(&argc, &argv);
  /* 2^20 bytes, 4100 times: 4299161600 bytes, 4194304 more than 2^32. */
  MPI_Type_contiguous(1 << 20, MPI_CHAR, &block);
  MPI_Type_create_hvector(4100, 1, 0, block, &huge);
  MPI_Type_commit(&huge);
  MPI_Bcast(one, 1, huge, 0, MPI_COMM_SELF);
  expect("MPI_Bcast coll:%d:-:0=4299161600", me);
  MPI_Bcast(one, 3, huge, 0, MPI_COMM_SELF);
  expect("MPI_Bcast coll:%d:-:0=12897484800", me);
  if (me == 0) {
    MPI_Send(one, 1, huge, 1, 3, MPI_COMM_WORLD);
    expect("MPI_Send send:1:3:-=4299161600");
  } else {
    MPI_Irecv(one, 1, huge, 0, 3, MPI_COMM_WORLD, &request);
    expect("MPI_Irecv posted:0:3");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait recv:0:3:-#=4299161600");
  }
  MPI_Type_free(&huge);
  MPI_Type_free(&block);
  end();
  return 0;
}
