/* Communicators made and freed in every way. What the objects are is compared over all ranks by the test: the same
 * identity on all members, no two objects alike. */
#include "expect.h"

static void expect_made(const char* call) { expect("%s", call); }

int main(int argc, char** argv) {
  MPI_Comm a, b, c, d, same;
  MPI_Group world, group;
  MPI_Request request[2];
  begin(&argc, &argv);

  /* Two with the same members must stay two. */
  MPI_Comm_dup(MPI_COMM_WORLD, &a);
  expect_made("MPI_Comm_dup");
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  expect_made("MPI_Comm_dup");
  MPI_Barrier(a);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Barrier(b);
  expect("MPI_Barrier coll:-:0:0");

  /* A split that leaves one process out, and one that turns the order round. */
  MPI_Comm_split(a, me == 0 ? MPI_UNDEFINED : 1, -me, &c);
  expect_made("MPI_Comm_split");
  if (c != MPI_COMM_NULL) {
    MPI_Barrier(c);
    expect("MPI_Barrier coll:-:0:0");
    MPI_Comm_free(&c);
    expect("MPI_Comm_free");
  }
  MPI_Comm_split(a, me % 2, 0, &c);
  expect_made("MPI_Comm_split");
  MPI_Comm_dup(c, &d);
  expect_made("MPI_Comm_dup");
  MPI_Comm_free(&c);
  expect("MPI_Comm_free");
  MPI_Comm_free(&d);
  expect("MPI_Comm_free");

  /* Only the members of the group call this. */
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int last = ranks - 1, zero = 0;
  for (int i = 0; i < 2; ++i) {
    MPI_Group_excl(world, 1, i == 0 ? &last : &zero, &group);
    if (me != (i == 0 ? last : zero)) {
      MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &c);
      expect_made("MPI_Comm_create_group");
      MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &d);
      expect_made("MPI_Comm_create_group");
      MPI_Comm_free(&c);
      expect("MPI_Comm_free");
      MPI_Comm_free(&d);
      expect("MPI_Comm_free");
    }
    MPI_Group_free(&group);
  }
  MPI_Group_excl(world, 1, &zero, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &c);
  expect_made("MPI_Comm_create");
  if (c != MPI_COMM_NULL) {
    MPI_Comm_free(&c);
    expect("MPI_Comm_free");
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);

  /* Duplicates completed in crossing order. */
  MPI_Comm_idup(MPI_COMM_WORLD, &c, &request[0]);
  expect("MPI_Comm_idup");
  MPI_Comm_idup(MPI_COMM_WORLD, &d, &request[1]);
  expect("MPI_Comm_idup");
  MPI_Wait(&request[me % 2], MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Wait(&request[1 - me % 2], MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Barrier(c);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Barrier(d);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Comm_free(&c);
  expect("MPI_Comm_free");
  MPI_Comm_free(&d);
  expect("MPI_Comm_free");

  /* Intercommunicators and what comes of them. */
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &c);
  expect_made("MPI_Comm_split");
  MPI_Intercomm_create(c, 0, MPI_COMM_WORLD, me % 2 == 0 ? 1 : 0, 9, &d);
  expect_made("MPI_Intercomm_create");
  MPI_Intercomm_merge(d, me % 2, &same);
  expect_made("MPI_Intercomm_merge");
  MPI_Barrier(same);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Comm_free(&same);
  expect("MPI_Comm_free");
  MPI_Comm_dup(d, &same);
  expect_made("MPI_Comm_dup");
  MPI_Comm_free(&same);
  expect("MPI_Comm_free");
  MPI_Comm_free(&d);
  expect("MPI_Comm_free");
  MPI_Comm_free(&c);
  expect("MPI_Comm_free");

  /* A message whose communicator is freed before it arrives. */
  double in = 0, out = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  expect_made("MPI_Comm_dup");
  MPI_Irecv(&in, 1, MPI_DOUBLE, (me + 1) % ranks, 3, c, &request[0]);
  expect("MPI_Irecv posted:%d:3", (me + 1) % ranks);
  MPI_Isend(&out, 1, MPI_DOUBLE, (me + ranks - 1) % ranks, 3, c, &request[1]);
  expect("MPI_Isend send:%d:3:8#", (me + ranks - 1) % ranks);
  MPI_Comm_free(&c);
  expect("MPI_Comm_free");
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall recv:%d:3:8# sent", (me + 1) % ranks);

  /* Many in turn. */
  for (int i = 0; i < 200; ++i) {
    MPI_Comm_dup(b, &c);
    expect_made("MPI_Comm_dup");
    MPI_Comm_free(&c);
    expect("MPI_Comm_free");
  }
  MPI_Barrier(MPI_COMM_SELF);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Comm_free(&a);
  expect("MPI_Comm_free");
  MPI_Comm_free(&b);
  expect("MPI_Comm_free");
  end();
  return 0;
}
