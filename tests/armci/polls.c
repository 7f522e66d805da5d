/* Process 0 gets from each of the others TURNS times, one after the other, which computes SECONDS each time before it is in
   the library again. Prints how long process 0 was in these calls while that one was outside, by its own clock, and how
   long in all: "wait seconds of seconds". Arguments: TURNS SECONDS. */
#include <mpi.h>
#ifdef THREAD
static int level;
#define MPI_Init(argc, argv) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level)
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int ARMCI_Init(void), ARMCI_Malloc(void**, long), ARMCI_Free(void*), ARMCI_Get(void*, void*, int, int), armci_msg_me(void), armci_msg_nproc(void);
void ARMCI_Barrier(void), ARMCI_Finalize(void);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void compute(double s) { for (double end = now() + s; now() < end;) {} }

int main(int argc, char** argv) {
  static double mine[64], waited, in_gets;
  void* at[64];
  const int turns = atoi(argv[1]);
  const double seconds = atof(argv[2]);
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  const int me = armci_msg_me();
  ARMCI_Malloc(at, sizeof mine);
  for (int i = 0; i < turns * (armci_msg_nproc() - 1); ++i) {
    const int target = 1 + i / turns;
    ARMCI_Barrier();
    double outside[2] = {now(), 0};
    const double enter = outside[0];
    if (me == target) compute(seconds);
    else if (me == 0) ARMCI_Get(at[target], mine, 64, target);
    const double exit = outside[1] = now();
    ARMCI_Barrier();
    MPI_Bcast(outside, 2, MPI_DOUBLE, target, MPI_COMM_WORLD);
    const double from = outside[0] > enter ? outside[0] : enter, to = outside[1] < exit ? outside[1] : exit;
    in_gets += exit - enter;
    if (to > from) waited += to - from;
  }
  if (me == 0) printf("wait %.6f of %.6f\n", waited, in_gets);
  ARMCI_Free(at[me]);
  ARMCI_Finalize();
  return MPI_Finalize();
}
