/* Recording is switched off and on again around parallel regions, in them, and while the others
 * stand in a barrier. Prints what the master did: `steps N`, and of each step how often it was in a
 * parallel region or barrier of its own while recording was on. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

static int threads;

static void plain(void) {
#pragma omp parallel num_threads(threads)
  {
    pass(2 + omp_get_thread_num());
#pragma omp barrier
    pass(1);
  }
}
static void all_of_it(void) {
  MPI_Pcontrol(0);
  plain();
  MPI_Pcontrol(1);
}
static void begins_within(void) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp master
    MPI_Pcontrol(0);
    pass(1);
#pragma omp barrier
  }
  pass(2);
  MPI_Pcontrol(1);
}
static void ends_within(void) {
  MPI_Pcontrol(0);
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp master
    MPI_Pcontrol(1);
    pass(1);
#pragma omp barrier
#pragma omp critical
    pass(1);
  }
}
/* The others stand in the barrier when the pause begins, and are still there when it ends. */
static void while_others_wait(void) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    {
      pass(3);
      MPI_Pcontrol(0);
      pass(3);
      MPI_Pcontrol(1);
    }
#pragma omp barrier
    pass(1);
  }
}
/* They stand in it when the pause begins, and leave it before that ends. */
static void until_others_are_gone(void) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    {
      pass(3);
      MPI_Pcontrol(0);
    }
#pragma omp barrier
    pass(1);
#pragma omp barrier
#pragma omp master
    MPI_Pcontrol(1);
    pass(1);
  }
}

int main(int argc, char** argv) {
  int provided;
  const int steps = 3;
  threads = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const double begin = now();
  for (int i = 0; i < steps; ++i) {
    plain();
    all_of_it();
    begins_within();
    ends_within();
    while_others_wait();
    until_others_are_gone();
  }
  printf("steps %d %.6f\n", steps, now() - begin);
  MPI_Finalize();
  return 0;
}
