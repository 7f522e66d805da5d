/* Opens the program as a library that nobody else sees, with its MPI and what stands before it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*program)(int, char**);
  *(void**)&program = dlsym(library, "program");
  return program(argc, argv);
}
