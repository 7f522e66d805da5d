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

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
/* The rest of what 4.1 added: of calls that can wait or make progress their time is recorded. */
#define CALL(name, ...)  \
  do {                   \
    name(__VA_ARGS__);   \
    expect(#name);       \
  } while (0)
static void added(void) {
  static char space[4096];
  void* back;
  int value = 0;
  MPI_Count large;
  MPI_Status status;
  MPI_Request request;
  MPI_Info info;
  MPI_Datatype pair;
  MPI_Session session;
  MPI_Status_set_source(&status, 3);
  MPI_Status_set_tag(&status, 4);
  MPI_Status_set_error(&status, MPI_SUCCESS);
  MPI_Status_set_elements_c(&status, MPI_BYTE, 5);
  MPI_Status_get_source(&status, &value);
  check(value == 3, "MPI_Status_get_source");
  MPI_Status_get_tag(&status, &value);
  check(value == 4, "MPI_Status_get_tag");
  MPI_Status_get_error(&status, &value);
  check(value == MPI_SUCCESS, "MPI_Status_get_error");
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  check(pair == MPI_DOUBLE_INT, "MPI_Type_get_value_index");
  MPI_Get_hw_resource_info(&info);
  MPI_Info_free(&info);
  int class, code;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "of a test");
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Remove_error_class(class);
  MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, 4096);
  CALL(MPI_Comm_flush_buffer, MPI_COMM_WORLD);
  CALL(MPI_Comm_iflush_buffer, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait complete:3");
  CALL(MPI_Comm_detach_buffer, MPI_COMM_WORLD, &back, &value);
  MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, space, 4096);
  CALL(MPI_Comm_detach_buffer_c, MPI_COMM_WORLD, &back, &large);
  CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_attach_buffer(session, space, 4096);
  CALL(MPI_Session_flush_buffer, session);
  CALL(MPI_Session_iflush_buffer, session, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait complete:3");
  CALL(MPI_Session_detach_buffer, session, &back, &value);
  MPI_Session_attach_buffer_c(session, space, 4096);
  CALL(MPI_Session_detach_buffer_c, session, &back, &large);
  CALL(MPI_Session_finalize, &session);
}
#endif

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
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
  added();
#endif
  end();
  return 0;
}
