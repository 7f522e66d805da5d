/* MPI calls from places that the comments name:
 *   site: FUNCTION MPI_FUNCTION ...     this line calls these, in this function
 *   calls: CALLEE CALLER                this line calls one of the program's functions, which is on the way to some site
 * run_sites.py reads them and looks for them in the merged trace.
 *
 * sites PLUGIN [kill]: with "kill" the process kills itself instead of finishing.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "part.h"

static volatile int calls;

static inline __attribute__((always_inline)) void inlined(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* site: inlined MPI_Barrier */
}

OWN_FUNCTION static void exchange_halo(void) {
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* site: exchange_halo MPI_Allreduce */
  inlined(); /* calls: inlined exchange_halo */
  ++calls;
}

OWN_FUNCTION static void step(void) {
  exchange_halo(); /* calls: exchange_halo step */
  ++calls;
}

/* One return address, two functions. */
OWN_FUNCTION static void by_pointer(void) {
  int (*const functions[])(MPI_Comm, int*) = {MPI_Comm_rank, MPI_Comm_size};
  for (int i = 0; i < 4; ++i) {
    int value;
    functions[i % 2](MPI_COMM_WORLD, &value); /* site: by_pointer MPI_Comm_rank MPI_Comm_size */
    ++calls;
  }
}

/* The same call site at many depths of the stack, and at the same depth by two ways. */
OWN_FUNCTION static void deep(int depth) {
  if (depth != 0) {
    deep(depth - 1); /* calls: deep deep */
  } else {
    MPI_Barrier(MPI_COMM_WORLD); /* site: deep MPI_Barrier */
  }
  ++calls;
}
OWN_FUNCTION static void one_way(void) {
  deep(0); /* calls: deep one_way */
  ++calls;
}
OWN_FUNCTION static void other_way(void) {
  deep(0); /* calls: deep other_way */
  calls += 2; /* so that it is not the same code */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv); /* site: main MPI_Init */
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void (*plugged_in)(void) = plugin == NULL ? NULL : (void (*)(void))dlsym(plugin, "in_plugin");
  if (plugged_in == NULL) return fprintf(stderr, "%s\n", dlerror()), MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < 100; ++i) {
    step(); /* calls: step main */
    in_library(); /* calls: in_library main */
    plugged_in(); /* calls: in_plugin main */
    by_pointer(); /* calls: by_pointer main */
    one_way(); /* calls: one_way main */
    other_way(); /* calls: other_way main */
    deep(i % 40); /* calls: deep main */
  }
  dlclose(plugin);
  if (argc > 2 && strcmp(argv[2], "kill") == 0) raise(SIGKILL);
  MPI_Finalize(); /* site: main MPI_Finalize */
  return 0;
}
