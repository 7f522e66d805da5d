/* Stands for a coarray library: its file's name tells that it is one. */
#include <mpi.h>

#include "part.h"

static volatile int calls;

OWN_FUNCTION static void inner(int depth) {
  if (depth != 0) {
    inner(depth - 1);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ++calls;
}

/* More frames than are remembered lie between in every tenth call. */
void _gfortran_caf_sync_all(void) {
  static int times;
  inner(++times % 10 == 0 ? 20 : 2);
  ++calls;
}

/* It ends by jumping to another function, so it is not on the stack. */
OWN_FUNCTION static void post(int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  calls += count;
}
void _gfortran_caf_event_post(void) {
  post(3);
}

void _gfortran_caf_co_sum(void (*done)(void)) {
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  done();
  ++calls;
}
