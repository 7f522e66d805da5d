/* MPI through communication libraries: a shared one (layers_caf.c) and two that are linked into the program. Comments:
 *   through: FUNCTION OPERATION MPI_FUNCTION   this line of FUNCTION calls a library, whose OPERATION calls MPI
 *   site: FUNCTION MPI_FUNCTION                this line calls MPI itself
 *   solver: ...                                the same as through, where ELG_LIBRARIES names solver_*; else site
 * run_layers.py reads them and looks for them in the merged trace.
 */
#include <mpi.h>

#include "part.h"

void _gfortran_caf_sync_all(void);
void _gfortran_caf_event_post(void);
void _gfortran_caf_co_sum(void (*done)(void));

static volatile int calls;

/* What a library linked into the program has inside: the name says nothing. */
OWN_FUNCTION static void issue(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  ++calls;
}
OWN_FUNCTION void PARMCI_Barrier(void) {
  issue();
  ++calls;
}
OWN_FUNCTION void pnga_sync(void) {
  PARMCI_Barrier();
  ++calls;
}
OWN_FUNCTION void GA_Sync(void) {
  pnga_sync();
  ++calls;
}

/* It ends by jumping to another one, so it is not on the stack: the call's instruction tells it. */
OWN_FUNCTION void GA_Fence(void) {
  pnga_sync();
}
/* So does a function of the program, which is no library's: then the library's innermost one is named. */
OWN_FUNCTION static void exchange(void) {
  GA_Sync();
}
/* The library is called through a register, of which the instruction tells nothing. */
static void (*volatile through_register)(void) = GA_Sync;

/* The program's own functions, whose names a library could have. */
OWN_FUNCTION static void ga_evolve(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: ga_evolve MPI_Barrier */
  ++calls;
  GA_Fence(); /* through: ga_evolve GA_Fence MPI_Barrier */
  GA_Sync(); /* through: ga_evolve GA_Sync MPI_Barrier */
  ++calls;
}
OWN_FUNCTION static void ga_step(void) {
  ga_evolve();
  ++calls;
}

OWN_FUNCTION void solver_run(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: solver_run MPI_Barrier */
  calls += 3; /* so that it is not the same code as issue() */
}

OWN_FUNCTION static void step(void) {
  _gfortran_caf_sync_all(); /* through: step sync all MPI_Barrier */
  ++calls;
  PARMCI_Barrier(); /* through: step ARMCI_Barrier MPI_Barrier */
  ++calls;
  _gfortran_caf_event_post(); /* through: step event post MPI_Barrier */
  ++calls;
  GA_Fence(); /* through: step GA_Fence MPI_Barrier */
  ++calls;
  exchange(); /* through: step GA_Sync MPI_Barrier */
  ++calls;
  through_register(); /* through: step GA_Sync MPI_Barrier */
  ++calls;
  _gfortran_caf_sync_all(); /* through: step sync all MPI_Barrier */
  ++calls;
}

/* The library calls back: what the program's function calls is its own. */
OWN_FUNCTION static void called_back(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: called_back MPI_Barrier */
  calls += 4;
}

/* The same depth of the stack by two ways. */
OWN_FUNCTION static void one_way(void) {
  _gfortran_caf_sync_all(); /* through: one_way sync all MPI_Barrier */
  ++calls;
}
OWN_FUNCTION static void other_way(void) {
  _gfortran_caf_sync_all(); /* through: other_way sync all MPI_Barrier */
  calls += 2; /* so that it is not the same code */
}
OWN_FUNCTION static void deep(int depth) {
  if (depth != 0) {
    deep(depth - 1);
  } else {
    _gfortran_caf_sync_all(); /* through: deep sync all MPI_Barrier */
  }
  ++calls;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv); /* site: main MPI_Init */
  for (int i = 0; i < 100; ++i) {
    step();
    one_way();
    other_way();
    deep(i % 40);
    ga_step();
    solver_run(); /* solver: main solver_run MPI_Barrier */
    _gfortran_caf_co_sum(called_back); /* through: main co_sum MPI_Allreduce */
  }
  MPI_Finalize(); /* site: main MPI_Finalize */
  return 0;
}
