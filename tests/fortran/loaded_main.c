/* A program without MPI that loads a Fortran library which has it, without making its symbols known to others. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library;
  void (*run)(void);
  if (argc != 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void **)&run = dlsym(library, "run");
  if (run == NULL) return 1;
  run();
  return 0;
}
