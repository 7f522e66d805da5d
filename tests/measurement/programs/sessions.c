/* A program that never calls MPI_Init: two sessions, communicators out of groups, an intercommunicator, and at last
 * MPI_COMM_WORLD after all (with "world" as argument). */
#define KOJAK_NO_WORLD
#include "expect.h"

static double in[8], out[8];

static MPI_Session open_session(MPI_Group* world) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", world);
  return session;
}

static void exchange(MPI_Comm comm) {
  const int next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  MPI_Sendrecv(out, 2, MPI_DOUBLE, next, 4, in, 8, MPI_DOUBLE, previous, 4, comm, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv send:%d:4:16 recv:%d:4:16", next, previous);
  MPI_Barrier(comm);
  expect("MPI_Barrier coll:-:0:0");
}

int main(int argc, char** argv) {
  MPI_Session session, second;
  MPI_Group world, again, halves[2];
  MPI_Comm comm, other, between;
  MPI_Win win;
  double* memory;
  const int into_world = argc > 1 && strcmp(argv[1], "world") == 0;
  session = open_session(&world);
  MPI_Group_rank(world, &me);
  MPI_Group_size(world, &ranks);
  begin_expecting();
  expect("MPI_Session_init");
  MPI_Comm_create_from_group(world, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  expect("MPI_Comm_create_from_group");
  exchange(comm);
  MPI_Comm_create_from_group(world, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &other);
  expect("MPI_Comm_create_from_group");
  exchange(other);

  MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win);
  expect("MPI_Win_allocate win:0");
  MPI_Win_fence(0, win);
  expect("MPI_Win_fence win:0");
  MPI_Put(out, 1, MPI_DOUBLE, (me + 1) % ranks, 0, 1, MPI_DOUBLE, win);
  expect("MPI_Put put:%d:8", (me + 1) % ranks);
  MPI_Win_fence(0, win);
  expect("MPI_Win_fence win:0");
  MPI_Win_free(&win);
  expect("MPI_Win_free win:0");

  /* The first process to the others. */
  int list[1] = {0};
  MPI_Group_incl(world, 1, list, &halves[0]);
  MPI_Group_excl(world, 1, list, &halves[1]);
  MPI_Intercomm_create_from_groups(halves[me != 0], 0, halves[me == 0], 0, "between", MPI_INFO_NULL,
                                   MPI_ERRORS_ARE_FATAL, &between);
  expect("MPI_Intercomm_create_from_groups");
  if (me == 0) {
    MPI_Send(out, 1, MPI_DOUBLE, 0, 1, between);
    expect("MPI_Send send:1:1:8");
  } else if (me == 1) {
    MPI_Recv(in, 1, MPI_DOUBLE, 0, 1, between, MPI_STATUS_IGNORE);
    expect("MPI_Recv recv:0:1:8");
  }
  MPI_Comm_free(&between);
  expect("MPI_Comm_free");
  MPI_Comm_free(&other);
  expect("MPI_Comm_free");
  MPI_Comm_free(&comm);
  expect("MPI_Comm_free");

  second = open_session(&again);
  expect("MPI_Session_init");
  MPI_Group_free(&halves[0]);
  MPI_Group_free(&halves[1]);
  MPI_Group_free(&world);
  MPI_Session_finalize(&session);
  expect("MPI_Session_finalize");
  MPI_Comm_create_from_group(again, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  expect("MPI_Comm_create_from_group");
  exchange(comm);
  MPI_Comm_free(&comm);
  expect("MPI_Comm_free");
  MPI_Group_free(&again);
  if (into_world) {
    MPI_Init(NULL, NULL);
    expect("MPI_Init");
    exchange(MPI_COMM_WORLD);
    MPI_Finalize();
    expect("MPI_Finalize");
  }
  MPI_Session_finalize(&second);
  expect("MPI_Session_finalize");
  if (expect_file != NULL) fclose(expect_file);
  printf("rank %d of %d done\n", me, ranks);
  return 0;
}
