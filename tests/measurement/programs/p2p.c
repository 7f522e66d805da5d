/* Messages of every kind between two neighbours: each call once, with its peer, tag and bytes. */
#include "expect.h"

static double in[64], out[64];
static int next, previous;

static void blocking(void) {
  MPI_Status status;
  char space[4096];
  void* detached;
  COUNT size;
  if (me % 2 == 0) {
    MPI_Send(out, 3, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
    expect("MPI_Send send:%d:1:24", next);
    MPI_Ssend(out, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    expect("MPI_Ssend send:%d:2:4", next);
  } else {
    MPI_Recv(in, 64, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &status);
    expect("MPI_Recv recv:%d:1:24", previous);
    check(status.MPI_TAG == 1, "tag of the user's status");
    MPI_Recv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv recv:%d:2:4", previous);
  }
  MPI_Buffer_attach(space, sizeof space);
  MPI_Bsend(out, 0, MPI_DOUBLE, next, 3, MPI_COMM_WORLD);
  expect("MPI_Bsend send:%d:3:0", next);
  MPI_Recv(in, 64, MPI_DOUBLE, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Recv recv:%d:3:0", previous);
  MPI_Buffer_detach(&detached, &size);
  expect("MPI_Buffer_detach");
  MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  expect("MPI_Send");
  MPI_Recv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Recv");
  MPI_Sendrecv(out, 2, MPI_DOUBLE, next, 4, in, 64, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, &status);
  expect("MPI_Sendrecv send:%d:4:16 recv:%d:4:16", next, previous);
  MPI_Sendrecv(out, 2, MPI_DOUBLE, next, 4, in, 64, MPI_DOUBLE, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
  expect("MPI_Sendrecv send:%d:4:16", next);
  MPI_Sendrecv_replace(in, 2, MPI_DOUBLE, MPI_PROC_NULL, 5, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv_replace recv:%d:4:16", previous);
  barrier();
}

static void nonblocking(void) {
  MPI_Request request[4];
  MPI_Status statuses[4];
  int index, flag, count, indices[4];
  MPI_Irecv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:-:-");
  MPI_Isend(out, 4, MPI_DOUBLE, next, 10, MPI_COMM_WORLD, &request[1]);
  expect("MPI_Isend send:%d:10:32#", next);
  request[2] = MPI_REQUEST_NULL;
  MPI_Irecv(in + 32, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[3]);
  expect("MPI_Irecv");
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall recv:%d:10:32# sent", previous);
  check(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL, "requests after Waitall");
  barrier();

  /* Completed in the other order than posted. */
  MPI_Irecv(in, 1, MPI_DOUBLE, previous, 11, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:%d:11", previous);
  MPI_Irecv(in + 1, 1, MPI_DOUBLE, previous, 12, MPI_COMM_WORLD, &request[1]);
  expect("MPI_Irecv posted:%d:12", previous);
  MPI_Issend(out, 1, MPI_DOUBLE, next, 12, MPI_COMM_WORLD, &request[2]);
  expect("MPI_Issend send:%d:12:8#", next);
  MPI_Wait(&request[1], MPI_STATUS_IGNORE);
  expect("MPI_Wait recv:%d:12:8#", previous);
  MPI_Wait(&request[2], MPI_STATUS_IGNORE);
  expect("MPI_Wait sent");
  MPI_Ibsend(out, 0, MPI_DOUBLE, MPI_PROC_NULL, 12, MPI_COMM_WORLD, &request[2]);
  expect("MPI_Ibsend");
  MPI_Wait(&request[2], MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Isend(out, 1, MPI_DOUBLE, next, 11, MPI_COMM_WORLD, &request[1]);
  expect("MPI_Isend send:%d:11:8#", next);
  MPI_Waitany(2, request, &index, &statuses[0]);
  expect("MPI_Waitany %s", index == 0 ? "recv:" : "sent");
  if (expect_file != NULL) {  /* one of the two, whichever came first */
    fseek(expect_file, -1 - (long)strlen(index == 0 ? "recv:" : "sent"), SEEK_CUR);
    if (index == 0) {
      expect("recv:%d:11:8#", previous);
    } else {
      expect("sent");
    }
  }
  MPI_Wait(&request[1 - index], &statuses[1]);
  if (index == 0) {
    expect("MPI_Wait sent");
  } else {
    expect("MPI_Wait recv:%d:11:8#", previous);
  }
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
  expect("MPI_Waitany");
  check(index == MPI_UNDEFINED, "Waitany over null requests");
  barrier();

  /* Tests that find nothing, then something. */
  MPI_Irecv(in, 1, MPI_DOUBLE, previous, 13, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:%d:13", previous);
  MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
  expect("MPI_Test tested");
  check(flag == 0, "a message before it was sent");
  MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
  expect("MPI_Testany tested");
  MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
  expect("MPI_Testall tested");
  MPI_Testsome(1, request, &count, indices, MPI_STATUSES_IGNORE);
  expect("MPI_Testsome tested");
  MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
  expect("MPI_Request_get_status tested");
  barrier();
  MPI_Send(out, 1, MPI_DOUBLE, next, 13, MPI_COMM_WORLD);
  expect("MPI_Send send:%d:13:8", next);
  do {
    MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
  } while (!flag && after_a_while());
  expect("*MPI_Request_get_status tested");
  expect("MPI_Request_get_status recv:%d:13:8#", previous);
  MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
  expect("MPI_Request_get_status");
  MPI_Test(&request[0], &flag, &statuses[0]);
  expect("MPI_Test");
  check(flag && statuses[0].MPI_SOURCE == previous, "status of a test");
  MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
  expect("MPI_Test");
  barrier();

  MPI_Irecv(in, 1, MPI_DOUBLE, previous, 14, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:%d:14", previous);
  MPI_Isend(out, 1, MPI_DOUBLE, next, 14, MPI_COMM_WORLD, &request[1]);
  expect("MPI_Isend send:%d:14:8#", next);
  int done = 0;
  while (done < 2) {
    MPI_Waitsome(2, request, &count, indices, statuses);
    char line[200] = "MPI_Waitsome";
    for (int i = 0; i < count; ++i) {
      if (indices[i] == 0) {
        snprintf(line + strlen(line), 100, " recv:%d:14:8#", previous);
      } else {
        strcat(line, " sent");
      }
    }
    expect("%s", line);
    done += count;
  }
  barrier();

  /* Taken back, and let go. */
  MPI_Irecv(in, 1, MPI_DOUBLE, previous, 15, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:%d:15", previous);
  MPI_Cancel(&request[0]);
  expect("MPI_Cancel");
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  expect("MPI_Wait cancelled");
  MPI_Isend(out, 1, MPI_DOUBLE, next, 16, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Isend send:%d:16:8#", next);
  MPI_Request_free(&request[0]);
  expect("MPI_Request_free freed");
  MPI_Recv(in, 1, MPI_DOUBLE, previous, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Recv recv:%d:16:8", previous);
  /* A receive that is let go takes the message that comes, and nobody is told. */
  static double unseen;
  MPI_Irecv(&unseen, 1, MPI_DOUBLE, previous, 17, MPI_COMM_WORLD, &request[0]);
  expect("MPI_Irecv posted:%d:17", previous);
  MPI_Request_free(&request[0]);
  expect("MPI_Request_free freed");
  for (int i = 0; i < 2; ++i) {
    MPI_Send(out, 1, MPI_DOUBLE, next, 17, MPI_COMM_WORLD);
    expect("MPI_Send send:%d:17:8", next);
  }
  MPI_Recv(in, 1, MPI_DOUBLE, previous, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Recv recv:%d:17:8", previous);
  barrier();
}

/* Many pending sends may share one handle. */
static void same_handle(void) {
  enum { kMany = 100 };
  MPI_Request request[kMany];
  char line[kMany * 8] = "MPI_Waitall";
  for (int i = 0; i < kMany; ++i) {
    MPI_Isend(out, 1, MPI_CHAR, next, 20, MPI_COMM_WORLD, &request[i]);
    expect("MPI_Isend send:%d:20:1#", next);
    strcat(line, " sent");
  }
  for (int i = 0; i < kMany; ++i) {
    MPI_Recv(in, 1, MPI_CHAR, previous, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv recv:%d:20:1", previous);
  }
  MPI_Waitall(kMany, request, MPI_STATUSES_IGNORE);
  expect("%s", line);
  barrier();
}

enum { kArray = 40 };
static MPI_Request array[2 * kArray];
static double received[kArray];

static void post(int i, int tag) {
  received[i] = -1;
  MPI_Irecv(&received[i], 1, MPI_DOUBLE, previous, tag, MPI_COMM_WORLD, &array[i]);
  expect("MPI_Irecv posted:%d:%d", previous, tag);
}
static void send(int i, int tag) {
  MPI_Isend(&out[i], 1, MPI_DOUBLE, next, tag, MPI_COMM_WORLD, &array[kArray + i]);
  expect("MPI_Isend send:%d:%d:8#", next, tag);
}
/* Waits for one request of the array; returns the place of a receive, or -1 for a send. */
static int wait_for_any(int first_tag) {
  int index;
  MPI_Waitany(2 * kArray, array, &index, MPI_STATUS_IGNORE);
  check(index >= 0 && index < 2 * kArray, "Waitany found nothing");
  if (index >= kArray) {
    expect("MPI_Waitany sent");
    return -1;
  }
  expect("MPI_Waitany recv:%d:%d:8#", previous, first_tag + index);
  check(received[index] == index, "the message of another request");
  return index;
}

/* Arrays of which each call completes one: their handles are used again, at the same place; they are persistent, and
 * what is over stays there; sends may share one. */
static void arrays(void) {
  int index, count, indices[2 * kArray], left[kArray];
  char line[2 * kArray * 20];
  for (int i = 0; i < kArray; ++i) out[i] = i;
  for (int i = 0; i < kArray; ++i) {
    post(i, 300 + i);
    left[i] = 2;
  }
  barrier();
  for (int i = kArray; i-- != 0;) send(i, 300 + i);
  for (int done = 0; done < 4 * kArray; ++done) {
    const int i = wait_for_any(300);
    if (i >= 0 && --left[i] != 0) post(i, 300 + i);
    if (done == kArray) {  /* in the middle, while others wait in the array */
      for (int k = 0; k < kArray; ++k) {
        MPI_Send(&out[k], 1, MPI_DOUBLE, next, 300 + k, MPI_COMM_WORLD);
        expect("MPI_Send send:%d:%d:8", next, 300 + k);
      }
      done += kArray;  /* there are no requests for these */
    }
  }
  MPI_Waitany(2 * kArray, array, &index, MPI_STATUS_IGNORE);
  expect("MPI_Waitany");
  check(index == MPI_UNDEFINED, "requests are left");
  barrier();

  for (int i = 0; i < kArray; ++i) {
    MPI_Recv_init(&received[i], 1, MPI_DOUBLE, previous, 400 + i, MPI_COMM_WORLD, &array[i]);
  }
  for (int round = 0; round < 2; ++round) {
    strcpy(line, "MPI_Startall");
    for (int i = 0; i < kArray; ++i) sprintf(line + strlen(line), " posted:%d:%d", previous, 400 + i);
    MPI_Startall(kArray, array);
    expect("%s", line);
    barrier();
    for (int i = 0; i < kArray; ++i) send((7 * i) % kArray, 400 + (7 * i) % kArray);
    for (int done = 0; done < 2 * kArray; ++done) wait_for_any(400);
    barrier();
  }
  /* What has not begun is not tested. */
  MPI_Start(&array[kArray - 1]);
  expect("MPI_Start posted:%d:%d", previous, 400 + kArray - 1);
  MPI_Testsome(kArray, array, &count, indices, MPI_STATUSES_IGNORE);
  expect("MPI_Testsome tested");
  barrier();
  send(kArray - 1, 400 + kArray - 1);
  do {
    MPI_Testsome(kArray, array, &count, indices, MPI_STATUSES_IGNORE);
  } while (count == 0 && after_a_while());
  expect("*MPI_Testsome tested");
  expect("MPI_Testsome recv:%d:%d:8#", previous, 400 + kArray - 1);
  MPI_Wait(&array[2 * kArray - 1], MPI_STATUS_IGNORE);
  expect("MPI_Wait sent");
  MPI_Testsome(kArray, array, &count, indices, MPI_STATUSES_IGNORE);
  expect("MPI_Testsome");
  check(count == MPI_UNDEFINED, "a request that has not begun");
  for (int i = 0; i < kArray; ++i) {
    MPI_Request_free(&array[i]);
    expect("MPI_Request_free");
  }
  barrier();
}

static void persistent(void) {
  MPI_Request request[3];
  MPI_Recv_init(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &request[0]);
  MPI_Send_init(out, 2, MPI_FLOAT, next, 30, MPI_COMM_WORLD, &request[1]);
  MPI_Send_init(out, 2, MPI_FLOAT, MPI_PROC_NULL, 30, MPI_COMM_WORLD, &request[2]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request[0]);
    expect("MPI_Start posted:-:30");
    MPI_Startall(2, request + 1);
    expect("MPI_Startall send:%d:30:8#", next);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall recv:%d:30:8# sent", previous);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Request_free(&request[i]);
    expect("MPI_Request_free");
  }
  barrier();
}

static void matched(void) {
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  int flag;
  for (int i = 0; i < 3; ++i) {
    MPI_Isend(out, 2, MPI_INT, next, 40 + i, MPI_COMM_WORLD, &request);
    expect("MPI_Isend send:%d:%d:8#", next, 40 + i);
    if (i == 0) {
      MPI_Probe(MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect("MPI_Probe");
      MPI_Mprobe(MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      expect("MPI_Mprobe posted:%d:40", previous);
      MPI_Mrecv(in, 2, MPI_INT, &message, &status);
      expect("MPI_Mrecv recv:%d:40:8#", previous);
    } else {
      MPI_Request receive;
      do {
        MPI_Improbe(previous, 40 + i, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
      } while (!flag && after_a_while());
      expect("*MPI_Improbe");
      expect("MPI_Improbe posted:%d:%d", previous, 40 + i);
      MPI_Imrecv(in, 2, MPI_INT, &message, &receive);
      expect("MPI_Imrecv posted:%d:%d", previous, 40 + i);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      expect("MPI_Wait recv:%d:%d:8#", previous, 40 + i);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait sent");
  }
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  expect("MPI_Mprobe");
  MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  expect("MPI_Mrecv");
  do {
    MPI_Iprobe(previous, 43, MPI_COMM_WORLD, &flag, &status);
  } while (flag && after_a_while());
  expect("MPI_Iprobe");
  barrier();
}

/* Calls that return an error: nothing is sent. */
static void failing(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Send(out, 1, MPI_DOUBLE, ranks + 5, 1, MPI_COMM_WORLD) != MPI_SUCCESS, "a send to nobody");
  expect("MPI_Send error:6");
  check(MPI_Send(out, 1, MPI_DATATYPE_NULL, next, 1, MPI_COMM_WORLD) != MPI_SUCCESS, "a send of nothing");
  expect("MPI_Send error:3");
  check(MPI_Isend(out, -1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &request) != MPI_SUCCESS, "a send of -1 items");
  expect("MPI_Isend error:2");
  check(MPI_Recv(in, 1, MPI_DATATYPE_NULL, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS,
        "a receive of nothing");
  expect("MPI_Recv error:3");
  check(MPI_Bcast(out, 1, MPI_DOUBLE, ranks + 1, MPI_COMM_WORLD) != MPI_SUCCESS, "a broadcast from nobody");
  expect("MPI_Bcast error:8");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  barrier();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  blocking();
  nonblocking();
  same_handle();
  arrays();
  persistent();
  matched();
  failing();
  end();
  return 0;
}
