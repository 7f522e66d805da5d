/* Calls that return an error: which class of error the trace has, and what the call did all the same. Messages
 * that were longer than their buffer have been taken, requests that are complete are so, and later messages
 * belong to the sends that they came from. Two processes. */
#include "expect.h"

static int in[64], out[64];
static int next, previous;

/* Bytes that the status of a receive tells; in MPICH those of one that failed mean nothing, and 0 is recorded. */
static int bytes_of(MPI_Status* status) {
  int count = 0;
#if !defined(MPICH)
  MPI_Get_elements(status, MPI_BYTE, &count);
#else
  (void)status;
#endif
  return count;
}
static void send(int count, int tag) {
  MPI_Send(out, count, MPI_INT, next, tag, MPI_COMM_WORLD);
  expect("MPI_Send send:%d:%d:%d", next, tag, 4 * count);
}
static MPI_Request post(int tag) {
  MPI_Request request;
  MPI_Irecv(in + tag, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &request);
  expect("MPI_Irecv posted:%d:%d", previous, tag);
  return request;
}
static void receive(int tag) {
  MPI_Recv(in, 64, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Recv recv:%d:%d:4", previous, tag);
}
/* Both processes' messages are there when they meet again. */
static void meet(void) {
  barrier();
}

/* Of three receives one gets more than it has room for, and one is not complete. */
static void statuses(void) {
  MPI_Request requests[3];
  MPI_Status status[3];
  int indices[3], count, flag;
  for (int i = 0; i < 2; ++i) requests[i] = post(1 + i);
  meet();
  send(1, 1);
  send(2, 2);
  check(MPI_Waitall(2, requests, status) == MPI_ERR_IN_STATUS, "Waitall with a message that is too long");
  expect("MPI_Waitall recv:%d:1:4# error:15 recv:%d:2:%d#", previous, previous, bytes_of(&status[1]));

  for (int i = 0; i < 2; ++i) requests[i] = post(3 + i);
  meet();
  send(2, 3);
  send(2, 4);
  meet();
  check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_ERR_IN_STATUS, "Waitall with two such messages");
  if (requests[1] == MPI_REQUEST_NULL) {
    expect("MPI_Waitall error:15 recv:%d:3:%d# recv:%d:4:%d#", previous, bytes_of(&status[1]), previous,
           bytes_of(&status[1]));
  } else { /* MPICH looks no further */
    expect("MPI_Waitall error:15 recv:%d:3:%d#", previous, bytes_of(&status[1]));
    check(MPI_Wait(&requests[1], &status[2]) != MPI_SUCCESS, "Wait for the other one");
    expect("MPI_Wait error:15 recv:%d:4:%d#", previous, bytes_of(&status[2]));
  }

  for (int i = 0; i < 2; ++i) requests[i] = post(5 + i);
  meet();
  send(2, 5);
  meet();
  /* The second message is sent later: of its request nothing may be said. */
  check(MPI_Waitsome(2, requests, &count, indices, status) == MPI_ERR_IN_STATUS && count == 1, "Waitsome");
  expect("MPI_Waitsome error:15 recv:%d:5:%d#", previous, bytes_of(&status[0]));
  meet();
  send(1, 6);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  expect("MPI_Wait recv:%d:6:4#", previous);

  requests[0] = post(7);
  meet();
  send(2, 7);
  meet();
  do {
    flag = MPI_Testsome(1, requests, &count, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    if (!flag) expect("MPI_Testsome tested");
  } while (!flag && after_a_while());
  expect("MPI_Testsome error:15 recv:%d:7:%d#", previous, bytes_of(&status[0]));
}

static void single(void) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  int index;
  meet();
  send(2, 10);
  check(MPI_Recv(in, 1, MPI_INT, previous, 10, MPI_COMM_WORLD, &status) != MPI_SUCCESS, "Recv");
  expect("MPI_Recv error:15 recv:%d:10:%d", previous, bytes_of(&status));
  send(2, 11);
  check(MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS,
        "Recv of any");
  expect("MPI_Recv error:15 recv:%d:11:%d", previous, bytes_of(&status));
  check(MPI_Sendrecv(out, 2, MPI_INT, next, 12, in, 1, MPI_INT, previous, 12, MPI_COMM_WORLD, &status) !=
            MPI_SUCCESS, "Sendrecv");
  expect("MPI_Sendrecv send:%d:12:8 error:15 recv:%d:12:%d", next, previous, bytes_of(&status));

  request = post(13);
  meet();
  send(2, 13);
  check(MPI_Wait(&request, &status) != MPI_SUCCESS, "Wait");
  expect("MPI_Wait error:15 recv:%d:13:%d#", previous, bytes_of(&status));
  request = post(14);
  meet();
  send(2, 14);
  check(MPI_Waitany(1, &request, &index, &status) != MPI_SUCCESS, "Waitany");
  expect("MPI_Waitany error:15 recv:%d:14:%d#", previous, bytes_of(&status));

  send(2, 15);
  MPI_Mprobe(previous, 15, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  expect("MPI_Mprobe posted:%d:15", previous);
  check(MPI_Mrecv(in, 1, MPI_INT, &message, &status) != MPI_SUCCESS, "Mrecv");
  expect("MPI_Mrecv error:15 recv:%d:15:%d#", previous, bytes_of(&status));

  /* In MPICH inactive after that, so that it can be started again. */
  MPI_Recv_init(in, 1, MPI_INT, previous, 16, MPI_COMM_WORLD, &request);
  for (int count = 2; count >= 1 && request != MPI_REQUEST_NULL; --count) { /* Open MPI has freed it */
    MPI_Start(&request);
    expect("MPI_Start posted:%d:16", previous);
    meet();
    send(count, 16);
    const int error = MPI_Wait(&request, &status);
    check((error != MPI_SUCCESS) == (count == 2), "Wait for a persistent receive");
    expect(count == 2 ? "MPI_Wait error:15 recv:%d:16:%d#" : "MPI_Wait recv:%d:16:%d#", previous,
           count == 2 ? bytes_of(&status) : 4);
  }
  if (request != MPI_REQUEST_NULL) {
    MPI_Request_free(&request);
    expect("MPI_Request_free");
  }
  send(1, 2);
  receive(2);
}

/* An error handler that returns is as good as none. */
static int handled;
static void handler(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  ++handled;
}
static void arguments(void) {
  MPI_Errhandler errhandler;
  MPI_Comm made;
  MPI_File file;
  int error;
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  error = MPI_Send(out, 1, MPI_INT, ranks, 1, MPI_COMM_WORLD);
  expect("MPI_Send error:6");
  check(error != MPI_SUCCESS && handled == 1, "the program's error handler");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&errhandler);
  check(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, -5, MPI_COMM_WORLD) != MPI_SUCCESS, "a root that is none");
  expect("MPI_Gather error:8");
  check(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made) != MPI_SUCCESS, "a group that is none");
  expect("MPI_Comm_create error:9");
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  expect("MPI_Comm_dup");
  MPI_Comm_free(&made);
  expect("MPI_Comm_free");
  error = MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  check(error != MPI_SUCCESS, "a file that is not there");
  expect("MPI_File_open error:42");
  barrier();
}

/* Nobody knows whether a fence that failed in its midst counts: from there on the window is nobody's. */
static void lost(void) {
  MPI_Win win;
  MPI_Win_create(in, sizeof in, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  expect("MPI_Win_create win:0");
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  check(MPI_Put(out, 1, MPI_INT, next, 0, 1, MPI_INT, win) != MPI_SUCCESS, "a put without an epoch");
  expect("MPI_Put error:51");
  MPI_Win_fence(0, win);
  expect("MPI_Win_fence win:0");
  MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  expect("MPI_Put");
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  expect("MPI_Win_fence assert:16 win:0");
  MPI_Win_lock_all(0, win);
  expect("MPI_Win_lock_all lock_all");
  check(MPI_Win_fence(0, win) != MPI_SUCCESS, "a fence under a lock");
  expect("STATE win_state:18446744073709551615:0");
  expect("MPI_Win_fence error:51");
  MPI_Put(out, 1, MPI_INT, next, 0, 1, MPI_INT, win);
  expect("MPI_Put");
  MPI_Win_unlock_all(win);
  expect("MPI_Win_unlock_all");
  MPI_Win_free(&win);
  expect("MPI_Win_free");
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  statuses();
  single();
  arguments();
  lost();
  end();
  return 0;
}
