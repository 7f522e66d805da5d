/* Takes MPI from a handle, as language bindings do: handle LIBRARY. It is not linked with any MPI. */
#include <dlfcn.h>
#include <stdio.h>

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
  printf("end\n");
  return 0;
}
