/* Starts two children of itself and talks with them. The children are a world of their own; with the argument
 * "without" they have not the library.
 */
#include "expect.h"

/* Calls on a window towards a child, which is rank 2 of it: they are told apart from those of all members. */
static void towards_other_world(MPI_Win win) {
  int out = 5, in = 0, sum = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
  expect("MPI_Win_lock other:4:2:0:0");
  MPI_Put(&out, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
  expect("MPI_Put other:1:2:4:0");
  MPI_Win_flush(2, win);
  expect("MPI_Win_flush other:7:2:0:0");
  MPI_Get(&in, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
  expect("MPI_Get other:2:2:4:0");
  MPI_Win_flush_local(2, win);
  expect("MPI_Win_flush_local other:8:2:0:0");
  MPI_Get_accumulate(&out, 1, MPI_INT, &sum, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win);
  expect("MPI_Get_accumulate other:3:2:4:4");
  MPI_Win_unlock(2, win);
  expect("MPI_Win_unlock other:6:2:0:0");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
  expect("MPI_Win_lock other:5:2:0:0");
  MPI_Win_unlock(2, win);
  expect("MPI_Win_unlock other:6:2:0:0");
  MPI_Win_lock_all(0, win);
  expect("MPI_Win_lock_all lock_all");
  MPI_Win_flush_all(win);
  expect("MPI_Win_flush_all flush:-:0");
  MPI_Win_unlock_all(win);
  expect("MPI_Win_unlock_all unlock_all");
  check(in == 5 && sum == 5, "the child's memory");
}

int main(int argc, char** argv) {
  MPI_Comm parent, children, both;
  MPI_Win win;
  int* memory;
  double value = 0;
  begin(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char* arguments[] = {NULL, NULL, NULL, NULL};
    char* command = argv[0];
    if (argc > 1 && strcmp(argv[1], "without") == 0) {
      command = "env";
      arguments[0] = "-u";
      arguments[1] = "LD_PRELOAD";
      arguments[2] = argv[0];
    }
    MPI_Comm_spawn(command, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    expect("MPI_Comm_spawn");
    /* Peers in another world: the call is there, a transfer is not. */
    if (me == 0) {
      MPI_Recv(&value, 1, MPI_DOUBLE, 1, 4, children, MPI_STATUS_IGNORE);
      expect("MPI_Recv");
      check(value == 17, "the child's message");
    }
    MPI_Barrier(children);
    expect("MPI_Barrier coll:-:0:0");
    MPI_Intercomm_merge(children, 0, &both);
    expect("MPI_Intercomm_merge");
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, both, &memory, &win);
    expect("MPI_Win_allocate win:0");
    if (me == 0) towards_other_world(win);
    MPI_Win_free(&win);
    expect("MPI_Win_free win:0");
    MPI_Comm_free(&both);
    expect("MPI_Comm_free");
    MPI_Comm_disconnect(&children);
    expect("MPI_Comm_disconnect");
  } else {
    value = 17;
    if (me == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 4, parent);
    MPI_Barrier(parent);
    MPI_Intercomm_merge(parent, 1, &both);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, both, &memory, &win);
    MPI_Win_free(&win);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  barrier();
  end();
  return 0;
}
