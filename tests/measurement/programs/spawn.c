/* Starts two children of itself and talks with them. The children are a world of their own; with the argument
 * "without" they have not the library.
 */
#include "expect.h"

int main(int argc, char** argv) {
  MPI_Comm parent, children;
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
    MPI_Comm_disconnect(&children);
    expect("MPI_Comm_disconnect");
  } else {
    value = 17;
    if (me == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 4, parent);
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  barrier();
  end();
  return 0;
}
