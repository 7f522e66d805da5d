/* A program whose ARMCI calls are in a library alone, as those of Global Arrays are (-DUSER_LIBRARY: that library);
   -DOTHER_VERSION: a table of a measurement library of another version. */
#include <mpi.h>
#include <stdio.h>

#if defined(OTHER_VERSION)
const void* elg_front(void) {
  static const unsigned version = 99;
  return &version;
}
#elif defined(USER_LIBRARY)
int ARMCI_Init(void), ARMCI_Finalize(void), ARMCI_Malloc(void**, long), ARMCI_Get(void*, void*, int, int);
int ARMCI_Put(void*, void*, int, int), ARMCI_Malloc_group(void**, long, void*), ARMCI_Free_group(void*, void*);
void ARMCI_Barrier(void), ARMCI_Group_get_world(void*);
int armci_msg_me(void), armci_msg_nproc(void);
int run_user(void) {
  void *at[64], *other[64], *world[32];
  int value = 0, mine = 0;
  ARMCI_Init();
  ARMCI_Malloc(at, sizeof value);
  mine = 10 + armci_msg_me();
  ARMCI_Put(&mine, at[(armci_msg_me() + 1) % armci_msg_nproc()], sizeof mine, (armci_msg_me() + 1) % armci_msg_nproc());
  ARMCI_Barrier();
  ARMCI_Get(at[0], &value, sizeof value, 0);
  ARMCI_Group_get_world(world);
  ARMCI_Malloc_group(other, 8, world);
  ARMCI_Free_group(other[armci_msg_me()], world);
  ARMCI_Finalize();
  return value;
}
#else
int run_user(void);
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int value = run_user();
  if (rank == 0) printf("%d\n", value);
  return MPI_Finalize();
}
#endif
