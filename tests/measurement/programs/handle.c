/* Takes MPI from a handle, as language bindings do: handle LIBRARY. It is not linked with any MPI.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int (*init)(int*, char***);
  int (*finalize)(void);
  void* const mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (mpi == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  *(void**)&init = dlsym(mpi, "MPI_Init");
  *(void**)&finalize = dlsym(mpi, "MPI_Finalize");
  if (init == NULL || finalize == NULL) return 1;
  init(&argc, &argv);
  finalize();
  /* One process speaks: a launcher may put the lines of two into one. */
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL || strcmp(rank, "0") == 0) printf("end\n");
  return 0;
}
