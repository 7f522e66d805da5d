/* A user's library that sites.c is linked with. */
#include <mpi.h>

#include "part.h"

static volatile int calls;

OWN_FUNCTION void in_library(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: in_library MPI_Barrier */
  ++calls;
}
