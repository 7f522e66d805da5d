/* Weak synchronisation: the origin runs ahead. It has completed one access epoch and started the
 * next while the target has not even begun to wait for the first (where the library lets it). */
#include "truth.h"

enum { kCompletingFirst, kWaitingLast };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, 2);
  static int memory[64];
  int value = rank;
  MPI_Win win;
  TIMED(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  Members origin = members_of(AT(0));
  Members target = members_of(AT(1));
  meet();
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (rank == 0) {
      TIMED(MPI_Win_start(target.group, 0, win), "win=0 group=%s", target.list);
      TIMED(MPI_Put(&value, 1, MPI_INT, 1, epoch, 1, MPI_INT, win), "win=0 to=1 bytes_put=4");
      if (epoch == 2) hear_late(kWaitingLast, 1);
      if (epoch == 0) tell(kCompletingFirst);
      TIMED(MPI_Win_complete(win), "win=0");
    } else {
      TIMED(MPI_Win_post(origin.group, 0, win), "win=0 group=%s", origin.list);
      if (epoch == 0) hear_late(kCompletingFirst, 1);
      if (epoch == 1) pause_ms(kLateMs);
      if (epoch == 2) tell(kWaitingLast);
      TIMED(MPI_Win_wait(win), "win=0");
    }
  }
  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&origin);
  members_free(&target);
  if (rank == 0) {
    at_least("mpi_rma_earlywait", "MPI_Win_wait", 1, SURELY(kLateMs));
    if (origins_run_ahead()) at_least("mpi_rma_latepost", "MPI_Win_start", 0, 2 * SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
