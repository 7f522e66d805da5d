/* A program without OpenMP of its own, which opens a library that has it. Usage: late_program
 * LIBRARY THREADS. It says what constructs.c says. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  void* const library = argc < 3 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*work)(int) = NULL;
  if (library != NULL) *(void**)&work = dlsym(library, "late_work");
  if (work == NULL) {
    puts(dlerror());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  const int threads = atoi(argv[2]);
  printf("result late 0 %d\n", work(threads));
  printf("count omp parallel|%d\ncount omp critical block|%d\n", 3 * threads, 3 * threads);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
