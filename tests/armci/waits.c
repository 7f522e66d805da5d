/* Process 0 waits for process 1, which computes outside the library, in one call after the other; then for its mutex, then
   for it in a barrier. Prints of each call how long it was waited in, by its own clock: "wait FUNCTION seconds". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef COMEX
typedef int handle;
enum { kAccDouble = 38, kAddLong = 13 };
#else
typedef struct { int target, aggregate; } handle;
enum { kAccDouble = 3, kAddLong = 1 };
#endif
int ARMCI_Init(void), ARMCI_Finalize(void), ARMCI_Malloc(void**, long), ARMCI_Free(void*), ARMCI_Create_mutexes(int);
int ARMCI_Destroy_mutexes(void), ARMCI_Put(void*, void*, int, int), ARMCI_Get(void*, void*, int, int);
int ARMCI_Acc(int, void*, void*, void*, int, int), ARMCI_NbGet(void*, void*, int, int, handle*), ARMCI_Wait(handle*);
int ARMCI_Rmw(int, void*, void*, int, int), armci_msg_me(void), armci_notify(int), armci_notify_wait(int, int*);
void ARMCI_Barrier(void), ARMCI_Lock(int, int), ARMCI_Unlock(int, int);

static int me;
static double came;
static void compute(double s) { for (double end = MPI_Wtime() + s; MPI_Wtime() < end;) {} }
/* Both are here; process 1 computes for a while, and then is in the library again. */
static double begin(void) {
  ARMCI_Barrier();
  ARMCI_Barrier();
  if (me == 1) compute(0.1);
  came = MPI_Wtime();
  return came;
}
/* 0 waited from its enter on until 1 came back, at the latest until its own exit. */
static void end(const char* what, double enter, double exit) {
  double other = came, own[2] = {enter, exit};
  ARMCI_Barrier();
  MPI_Bcast(&other, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  const double until = other < own[1] ? other : own[1];
  if (me == 0) printf("wait %s %.6f\n", what, until > own[0] ? until - own[0] : 0);
}

int main(int argc, char** argv) {
  static double mine[64];
  double one = 1, t;
  void* at[64];
  handle h;
  memset(&h, 0, sizeof h);
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  me = armci_msg_me();
  ARMCI_Malloc(at, sizeof mine);
  ARMCI_Create_mutexes(1);
  t = begin(); if (me == 0) ARMCI_Get(at[1], mine, 64, 1);
  end("ARMCI_Get", t, MPI_Wtime());
  t = begin(); if (me == 0) ARMCI_Put(mine, at[1], 64, 1);
  end("ARMCI_Put", t, MPI_Wtime());
  t = begin(); if (me == 0) ARMCI_Acc(kAccDouble, &one, mine, at[1], 64, 1);
  end("ARMCI_Acc", t, MPI_Wtime());
  t = begin(); if (me == 0) { ARMCI_NbGet(at[1], mine, 64, 1, &h); t = MPI_Wtime(); ARMCI_Wait(&h); }
  end("ARMCI_Wait", t, MPI_Wtime());
  t = begin(); if (me == 0) { long old; ARMCI_Rmw(kAddLong, &old, at[1], 1, 1); }
  end("ARMCI_Rmw", t, MPI_Wtime());
  if (me == 1) ARMCI_Lock(0, 0);
  ARMCI_Barrier();
  t = MPI_Wtime();
  if (me == 1) { compute(0.1); came = MPI_Wtime(); ARMCI_Unlock(0, 0); } else { ARMCI_Lock(0, 0); }
  const double got = MPI_Wtime();
  if (me == 0) ARMCI_Unlock(0, 0);
  end("ARMCI_Lock", t, got);
#ifdef COMEX
  int value;
  ARMCI_Barrier();
  t = MPI_Wtime();
  if (me == 1) { compute(0.1); came = MPI_Wtime(); armci_notify(0); }
  if (me == 0) armci_notify_wait(1, &value);
  end("armci_notify_wait", t, MPI_Wtime());
#endif
  ARMCI_Barrier();
  t = MPI_Wtime();
  if (me == 1) compute(0.1);
  came = MPI_Wtime();
  ARMCI_Barrier();
  end("ARMCI_Barrier", t, MPI_Wtime());
  ARMCI_Destroy_mutexes();
  ARMCI_Free(at[me]);
  ARMCI_Finalize();
  return MPI_Finalize();
}
