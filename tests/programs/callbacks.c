/* Calls of MPI in functions that MPI calls back, and waits in them: of attributes, errors,
 * generalised requests and of the end. They are the program's calls, and lie within the outer one;
 * messages find their partners, each wait is the inner call's, and the outer call's is what is left
 * of its time. */
#include <setjmp.h>
#include <stddef.h>

#include "truth.h"

enum { kSending = 0, kEntering = 16, kFreeing = 32, kEnding = 33 };

static int value, next;
static MPI_Win field;
static jmp_buf back;

/* One message from 0, which comes late, to 1. */
static void send_late(int part, const char* message) {
  if (rank == 0) {
    hear_late(kSending + part, 1);
    TIMED(MPI_Send(&value, 1, MPI_INT, 1, part, MPI_COMM_WORLD), "send=%s bytes_sent_p2p=4",
          message);
  } else {
    tell(kSending + part);
    TIMED(MPI_Recv(&value, 1, MPI_INT, 0, part, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "recv=%s bytes_rcvd_p2p=4", message);
  }
}
static void message_within(void) {
  static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  const int part = next++;
  send_late(part, names[part]);
}

static int on_delete(MPI_Comm comm, int key, void* kept, void* extra) {
  (void)comm, (void)key, (void)kept, (void)extra;
  message_within();
  return MPI_SUCCESS;
}
static int on_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  message_within();
  return MPI_SUCCESS;
}
static int keep(MPI_Comm comm, int key, void* kept, void* extra) {
  (void)comm, (void)key, (void)kept, (void)extra;
  return MPI_SUCCESS;
}
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  message_within();
}
static void jump_out(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  message_within();
  longjmp(back, 1);
}
static int on_query(void* extra, MPI_Status* status) {
  (void)extra;
  message_within();
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int on_free(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int on_cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}
/* A call within a call within a call. */
static int on_delete_twice(MPI_Comm comm, int key, void* kept, void* extra) {
  (void)comm, (void)key, (void)kept;
  MPI_Request general;
  MPI_Grequest_start(on_query, on_free, on_cancel, extra, &general);
  MPI_Grequest_complete(general);
  TIMED(MPI_Wait(&general, MPI_STATUS_IGNORE), "%s", "");
  return MPI_SUCCESS;
}
/* Rank 0 is late here, not for MPI_Comm_free. */
static int on_delete_all(MPI_Comm comm, int key, void* kept, void* extra) {
  (void)comm, (void)key, (void)kept, (void)extra;
  if (rank == 0) hear_late(kFreeing, 1);
  if (rank == 1) tell(kFreeing);
  TIMED(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
  return MPI_SUCCESS;
}
static int on_finalize(MPI_Comm comm, int key, void* kept, void* extra) {
  (void)comm, (void)key, (void)kept, (void)extra;
  if (rank == 0) hear_late(kEnding, 1);
  if (rank == 1) tell(kEnding);
  TIMED(MPI_Win_fence(0, field), "win=field");
  TIMED(MPI_Win_free(&field), "win=field");
  return MPI_SUCCESS;
}

static void fail_within(MPI_Comm comm, MPI_Comm_errhandler_function* handle) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  if (setjmp(back) == 0) MPI_Comm_set_name(comm, NULL);
}

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 2);
  int key, memory[2] = {0, 0};
  MPI_Comm own, copy;
  MPI_Request general;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &field),
        "win=field");
  TIMED(MPI_Win_fence(0, field), "win=field");
  MPI_Comm_dup(MPI_COMM_SELF, &own);

  meet();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Comm_set_attr(own, key, NULL);
  MPI_Comm_delete_attr(own, key);
  MPI_Comm_free_keyval(&key);

  meet();
  MPI_Comm_create_keyval(on_copy, keep, &key, NULL);
  MPI_Comm_set_attr(own, key, NULL);
  MPI_Comm_dup(own, &copy);
  MPI_Comm_delete_attr(own, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&copy);

  meet(); /* MPI_Wait, and MPI_Test, which is in the trace only when it has returned */
  for (int i = 0; i < 2; ++i) {
    int done = 0;
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &general);
    MPI_Grequest_complete(general);
    if (i == 0) {
      TIMED(MPI_Wait(&general, MPI_STATUS_IGNORE), "%s", "");
    } else {
      MPI_Test(&general, &done, MPI_STATUS_IGNORE);
    }
  }

  meet();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete_twice, &key, NULL);
  MPI_Comm_set_attr(own, key, NULL);
  MPI_Comm_delete_attr(own, key);
  MPI_Comm_free_keyval(&key);

  meet();
  fail_within(own, on_error);
  meet();
  fail_within(own, jump_out);
  meet();
  message_within();

  meet();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete_all, &key, NULL);
  MPI_Comm_set_attr(own, key, NULL);
  MPI_Comm_free(&own);
  MPI_Comm_free_keyval(&key);

  if (rank == 1) {
    at_least("mpi_latesender", "MPI_Recv", 1, 8 * SURELY(kLateMs));
    exactly_zero("mpi_latesender", "MPI_Wait", 1);
    at_least("mpi_barrier_wait", "MPI_Barrier", 1, SURELY(kLateMs));
    at_least("mpi_rma_fence_wait", "MPI_Win_fence", 1, SURELY(kLateMs));
  }
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  truth_end();
  return 0;
}
