/* A program of OpenMP and MPI in which one thread of the last process computes longer than its
 * master, which is therefore late for the others. Each thread notes how long it computes: `note
 * RANK|PHASE THREAD BEGIN END`, in seconds of one clock. check_causes.py computes from these what
 * the report must say.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#include "clock.h"

enum { kPhases = 4, kThreads = 2 };
static double begin[kPhases][kThreads], end[kPhases][kThreads];

static void relax(int phase, int slow) {
#pragma omp parallel num_threads(kThreads)
  {
    const int thread = omp_get_thread_num();
    begin[phase][thread] = now();
    pass(slow && thread == 1 ? 60 : 20);
    end[phase][thread] = now();
  }
}

int main(int argc, char** argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int phase = 0; phase < kPhases; ++phase) {
    pass(30); /* the workers have nothing to do */
    relax(phase, rank == size - 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int turn = 0; turn < size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != rank) continue;
    for (int phase = 0; phase < kPhases; ++phase) {
      for (int thread = 0; thread < kThreads; ++thread) {
        printf("note %d|%d %d %.9f %.9f\n", rank, phase, thread, begin[phase][thread],
               end[phase][thread]);
      }
    }
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
