/* Functions of MPI 4.1, which this MPI library need not have: later_mpi.c stands in for a library that has them, made
 * of what is there. The measurement library refers to them weakly, so it finds them only at run time. */
#include "expect.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]);
int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* found, int indices[],
                                MPI_Status statuses[]);
int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request* request);
#endif

static double in[64], out[64];

int main(int argc, char** argv) {
  MPI_Request requests[3], flushed;
  MPI_Status statuses[3];
  int index, flag, found, indices[3];
  begin(&argc, &argv);
  const int next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  requests[2] = MPI_REQUEST_NULL;
  MPI_Irecv(in, 4, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &requests[0]);
  expect("MPI_Irecv posted:%d:1", previous);
  MPI_Irecv(in + 8, 4, MPI_DOUBLE, previous, 2, MPI_COMM_WORLD, &requests[1]);
  expect("MPI_Irecv posted:%d:2", previous);
  MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE);
  check(!flag, "nothing was sent yet");
  expect("MPI_Request_get_status_all tested");
  MPI_Request_get_status_some(3, requests, &found, indices, MPI_STATUSES_IGNORE);
  check(found == 0, "nothing was sent yet");
  expect("MPI_Request_get_status_some tested");
  barrier();
  MPI_Send(out, 3, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
  expect("MPI_Send send:%d:2:24", next);
  do {
    MPI_Request_get_status_any(3, requests, &index, &flag, MPI_STATUS_IGNORE);
  } while (!flag);
  check(index == 1, "the second is complete");
  expect("*MPI_Request_get_status_any tested");
  expect("MPI_Request_get_status_any recv:%d:2:24#", previous);
  barrier();
  MPI_Send(out, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
  expect("MPI_Send send:%d:1:8", next);
  do {
    MPI_Request_get_status_all(3, requests, &flag, statuses);
  } while (!flag);
  expect("*MPI_Request_get_status_all tested");
  expect("MPI_Request_get_status_all recv:%d:1:8#", previous);
  MPI_Request_get_status_some(3, requests, &found, indices, statuses);
  check(found == 2, "both are complete");
  expect("MPI_Request_get_status_some");
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall");
  MPI_Buffer_flush();
  expect("MPI_Buffer_flush");
  MPI_Buffer_iflush(&flushed);
  expect("MPI_Buffer_iflush");
  MPI_Wait(&flushed, MPI_STATUS_IGNORE);
  expect("MPI_Wait complete:3");
  end();
  return 0;
}
