/* A library that sites.c loads while it runs. */
#include <mpi.h>

#include "part.h"

static volatile int calls;

OWN_FUNCTION void in_plugin(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: in_plugin MPI_Barrier */
  ++calls;
}
