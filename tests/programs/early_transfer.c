/* Early Transfer: large transfers to a target that has posted, while the last target of the same
 * access epoch has not (with two processes, it is the same). Where they wait at all, they wait for
 * the last post of the epoch. */
#include <stdlib.h>

#include "truth.h"

enum { kPosted, kStarting, kPostedGet, kStartingGet, kCount = 1 << 19 };

int main(int argc, char** argv) {
  truth_begin(&argc, &argv, kTwoToFour);
  int* memory = calloc(kCount, sizeof(int));
  int* local = calloc(kCount, sizeof(int));
  if (memory == NULL || local == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  const size_t bytes = kCount * sizeof(int);
  MPI_Win win;
  TIMED(MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        "win=0");
  Members origin = members_of(AT(0));
  Members targets = members_of(((1u << ranks) - 1) & ~AT(0));

  for (int round = 0; round < 2; ++round) {
    const int posted = round == 0 ? kPosted : kPostedGet;
    const int starting = round == 0 ? kStarting : kStartingGet;
    meet();
    if (rank == 0) {
      hear(posted, ranks - 2);
      tell(starting);
      TIMED(MPI_Win_start(targets.group, 0, win), "win=0 group=%s", targets.list);
      if (round == 0)
        TIMED(MPI_Put(local, kCount, MPI_INT, 1, 0, kCount, MPI_INT, win),
              "win=0 to=1 bytes_put=%zu", bytes);
      else
        TIMED(MPI_Get(local, kCount, MPI_INT, 1, 0, kCount, MPI_INT, win),
              "win=0 to=1 bytes_get=%zu", bytes);
      TIMED(MPI_Win_complete(win), "win=0");
    } else {
      if (rank == ranks - 1) hear_late(starting, 1);
      TIMED(MPI_Win_post(origin.group, 0, win), "win=0 group=%s", origin.list);
      if (rank < ranks - 1) tell(posted);
      TIMED(MPI_Win_wait(win), "win=0");
    }
  }

  meet();
  TIMED(MPI_Win_free(&win), "win=0");
  members_free(&origin);
  members_free(&targets);
  free(memory);
  free(local);
  if (rank == 0) {
    at_least("mpi_rma_earlytransfer+mpi_rma_latepost", "*", 0, 2 * SURELY(kLateMs));
    if (osc_is("pt2pt")) at_least("mpi_rma_earlytransfer", "MPI_Put", 0, SURELY(kLateMs));
  }
  truth_end();
  return 0;
}
