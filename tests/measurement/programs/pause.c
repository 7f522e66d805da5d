/* Recording switched off and on: rank 0 alone is off around a window's creation, a fence, posts and messages. What
 * happened meanwhile is not recorded, but where the process stands afterwards is. */
#include "expect.h"

int main(int argc, char** argv) {
  MPI_Win win, later;
  MPI_Group world, other;
  MPI_Comm made;
  MPI_Request request;
  MPI_Request early[2];
  double memory[8] = {0}, value = 1, in[2];
  begin(&argc, &argv);
  const int peer = 1 - me;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  expect("MPI_Win_create win:0");
  MPI_Win_fence(0, win);
  expect("MPI_Win_fence win:0");

  const int off = me == 0;
  if (off) {
    MPI_Irecv(&in[0], 1, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, &early[0]);
    expect("MPI_Irecv posted:%d:6", peer);
    MPI_Pcontrol(0);
    MPI_Irecv(&in[1], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &early[1]);
  }
#define EXPECT_UNLESS_OFF(...) \
  if (!off) expect(__VA_ARGS__)
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  EXPECT_UNLESS_OFF("MPI_Win_fence assert:16 win:0");
  for (int i = 0; i < 2; ++i) {
    MPI_Win_post(other, 0, win);
    EXPECT_UNLESS_OFF("MPI_Win_post group:0:%d", peer);
    MPI_Win_start(other, 0, win);
    EXPECT_UNLESS_OFF("MPI_Win_start group:0:%d", peer);
    MPI_Put(&value, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, win);
    EXPECT_UNLESS_OFF("MPI_Put put:%d:8", peer);
    if (i == 0) {
      MPI_Win_complete(win);
      EXPECT_UNLESS_OFF("MPI_Win_complete group:1:%d", peer);
      MPI_Win_wait(win);
      EXPECT_UNLESS_OFF("MPI_Win_wait group:1:%d", peer);
    }
  }
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &later);
  EXPECT_UNLESS_OFF("MPI_Win_create win:1");
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  EXPECT_UNLESS_OFF("MPI_Comm_dup");
  MPI_Barrier(made);
  EXPECT_UNLESS_OFF("MPI_Barrier coll:-:0:0");
  MPI_Isend(&value, 1, MPI_DOUBLE, peer, 5, made, &request);
  EXPECT_UNLESS_OFF("MPI_Isend send:%d:5:8#", peer);
  MPI_Recv(&value, 1, MPI_DOUBLE, peer, 5, made, MPI_STATUS_IGNORE);
  EXPECT_UNLESS_OFF("MPI_Recv recv:%d:5:8", peer);
  if (off) {
    /* The open epochs: 2 access and 2 exposure begun, one put in the open one, both open (1 + 2). */
    MPI_Pcontrol(1);
    expect("PAUSING");
    expect("STATE collectives:1");
    expect("STATE messages:1:5:1:1");
    expect("STATE win_state:0:0");
    expect("STATE win_state:2:0");
    expect("STATE epochs:1:2:2:1:3");
    /* Two receives, of which the second has been posted meanwhile, and the send. */
    expect("STATE open:1:1:6:0");
    expect("STATE open:1:-:-:6");
    expect("STATE open:2:1:5:0");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait sent");
  MPI_Win_complete(win);
  expect("MPI_Win_complete group:1:%d", peer);
  MPI_Win_wait(win);
  expect("MPI_Win_wait group:1:%d", peer);
  if (off) {
    /* A lock that ends meanwhile: the state tells that nothing is open towards its target any more. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    expect("MPI_Win_lock lock:0:1");
    MPI_Pcontrol(0);
    MPI_Win_unlock(0, win);
    MPI_Pcontrol(1);
    expect("PAUSING");
    expect("STATE collectives:1");
    expect("STATE messages:1:5:1:1");
    expect("STATE win_state:0:0");
    expect("STATE win_state:2:0");
    expect("STATE epochs:0:0:0:0:0");
    expect("STATE epochs:1:2:2:0:0");
    expect("STATE open:1:1:6:0");
    expect("STATE open:1:-:-:6");
  }
  if (off) {
    MPI_Wait(&early[1], MPI_STATUS_IGNORE);
    expect("MPI_Wait recv:%d:7:8#", peer);
    MPI_Wait(&early[0], MPI_STATUS_IGNORE);
    expect("MPI_Wait recv:%d:6:8#", peer);
  } else {
    for (int tag = 7; tag >= 6; --tag) {
      MPI_Send(&value, 1, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD);
      expect("MPI_Send send:%d:%d:8", peer, tag);
    }
  }
  MPI_Pcontrol(2);
  MPI_Pcontrol(77);
  MPI_Win_fence(0, later);
  expect("MPI_Win_fence win:1");
  MPI_Win_free(&win);
  expect("MPI_Win_free win:0");
  MPI_Win_free(&later);
  expect("MPI_Win_free win:1");
  MPI_Comm_free(&made);
  expect("MPI_Comm_free");
  MPI_Group_free(&world);
  MPI_Group_free(&other);
  end();
  return 0;
}
