/* Process 0 gets from process 1 seven times, which computes 0.4 s each time before it is in the library
   again. Prints how long process 0 was in these calls while process 1 was outside, by its own clock, and how
   long in all: "wait seconds of seconds". */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int ARMCI_Init(void), ARMCI_Malloc(void**, long), ARMCI_Free(void*), ARMCI_Get(void*, void*, int, int), armci_msg_me(void);
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
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  const int me = armci_msg_me();
  ARMCI_Malloc(at, sizeof mine);
  for (int i = 0; i < 7; ++i) {
    ARMCI_Barrier();
    double outside[2] = {now(), 0};
    const double enter = outside[0];
    if (me == 1) compute(0.4);
    else ARMCI_Get(at[1], mine, 64, 1);
    const double exit = outside[1] = now();
    ARMCI_Barrier();
    MPI_Bcast(outside, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    const double from = outside[0] > enter ? outside[0] : enter, to = outside[1] < exit ? outside[1] : exit;
    in_gets += exit - enter;
    if (to > from) waited += to - from;
  }
  if (me == 0) printf("wait %.6f of %.6f\n", waited, in_gets);
  ARMCI_Free(at[me]);
  ARMCI_Finalize();
  return MPI_Finalize();
}
