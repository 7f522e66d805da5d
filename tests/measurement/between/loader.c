/* Opens the program as a library that nobody else sees, with its MPI and what stands before it. DEEP=1: it sees its own
 * libraries before all others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int deep = getenv("DEEP") != NULL ? RTLD_DEEPBIND : 0;
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | deep) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*program)(int, char**);
  *(void**)&program = dlsym(library, "program");
  return program(argc, argv);
}
