/* Nanoseconds of CPU time per ARMCI call: armci_cost CALLS, on 2 processes. As measurement_cost.c; the ARMCI is
   armci_cost_library.c, whose functions return at once. */
#include <mpi.h>

#include "pieces.h"

int ARMCI_Init(void);
int ARMCI_Finalize(void);
int ARMCI_Put(void* src, void* dst, int bytes, int proc);
int ARMCI_Get(void* src, void* dst, int bytes, int proc);
int ARMCI_NbPut(void* src, void* dst, int bytes, int proc, int* handle);
int ARMCI_Wait(int* handle);
void ARMCI_Fence(int proc);
int ARMCI_Rmw(int op, void* ploc, void* prem, int value, int proc);
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);
void armci_cost_rank(int rank);

static char memory[64], from[64];
static int counter, found;

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  int rank = 0, handle = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  armci_cost_rank(rank);
  ARMCI_Init();
  if (rank == 0) {
    struct timespec t;
    MEASURE("clock", clock_gettime(CLOCK_MONOTONIC, &t), (void)0);
    MEASURE("put", ARMCI_Put(from, memory, 64, 1), (void)0);
    MEASURE("get", ARMCI_Get(memory, from, 64, 1), (void)0);
    MEASURE("nbput_wait", ARMCI_NbPut(from, memory, 64, 1, &handle); ARMCI_Wait(&handle), (void)0);
    MEASURE("rmw", ARMCI_Rmw(0, &found, &counter, 1, 1), (void)0);
    MEASURE("fence", ARMCI_Fence(1), (void)0);
    MEASURE("lock_unlock", ARMCI_Lock(0, 1); ARMCI_Unlock(0, 1), (void)0);
  }
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
