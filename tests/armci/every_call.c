/* Calls every function of the table once, between two processes or more, and says what it found: the same with the front,
   with the measurement and without both. -DCOMEX: the functions that ComEx has; else those of ARMCI-MPI. No header of
   ARMCI: the two differ, and here stands what they have in common. */
#include <mpi.h>
#ifdef THREAD
static int level;
#define MPI_Init(argc, argv) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level)
#endif
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef COMEX
typedef struct { void **src, **dst; int length, bytes; } vector;
typedef int handle;
typedef int group;
enum { kSwap = 10, kSwapLong, kAdd, kAddLong, kAccDouble = 38 };
#else
typedef struct { void **src, **dst; int bytes, length; } vector;
typedef struct { int target, aggregate; } handle;
typedef struct { MPI_Comm comm, other; int *to_all, *to_group, rank, size; } group;
enum { kAdd, kAddLong, kSwap, kSwapLong, kAccDouble = 3 };
#endif
#define STRIDES void*, int*, void*, int*, int*, int
int ARMCI_Init(void), ARMCI_Init_args(int*, char***), ARMCI_Initialized(void), ARMCI_Finalize(void);
int ARMCI_Init_thread(int), ARMCI_Init_thread_comm(int, MPI_Comm), ARMCI_Init_mpi_comm(MPI_Comm);
int ARMCI_Put(void*, void*, int, int), ARMCI_Get(void*, void*, int, int), ARMCI_Acc(int, void*, void*, void*, int, int);
int ARMCI_PutS(STRIDES, int), ARMCI_GetS(STRIDES, int), ARMCI_AccS(int, void*, STRIDES, int);
int ARMCI_PutV(vector*, int, int), ARMCI_GetV(vector*, int, int), ARMCI_AccV(int, void*, vector*, int, int);
int ARMCI_Put_flag(void*, void*, int, int*, int, int), ARMCI_PutS_flag(STRIDES, int*, int, int);
int ARMCI_PutS_flag_dir(STRIDES, int*, int, int);
int ARMCI_PutValueInt(int, void*, int), ARMCI_PutValueLong(long, void*, int), ARMCI_PutValueFloat(float, void*, int);
int ARMCI_PutValueDouble(double, void*, int), ARMCI_NbPutValueInt(int, void*, int, handle*);
int ARMCI_NbPutValueLong(long, void*, int, handle*), ARMCI_NbPutValueFloat(float, void*, int, handle*);
int ARMCI_NbPutValueDouble(double, void*, int, handle*), ARMCI_GetValueInt(void*, int);
long ARMCI_GetValueLong(void*, int);
float ARMCI_GetValueFloat(void*, int);
double ARMCI_GetValueDouble(void*, int);
int ARMCI_NbPut(void*, void*, int, int, handle*), ARMCI_NbGet(void*, void*, int, int, handle*);
int ARMCI_NbAcc(int, void*, void*, void*, int, int, handle*);
int ARMCI_NbPutS(STRIDES, int, handle*), ARMCI_NbGetS(STRIDES, int, handle*), ARMCI_NbAccS(int, void*, STRIDES, int, handle*);
int ARMCI_NbPutV(vector*, int, int, handle*), ARMCI_NbGetV(vector*, int, int, handle*);
int ARMCI_NbAccV(int, void*, vector*, int, int, handle*);
int ARMCI_Wait(handle*), ARMCI_Test(handle*), ARMCI_WaitProc(int), ARMCI_WaitAll(void);
void ARMCI_Fence(int), ARMCI_AllFence(void), ARMCI_GroupFence(group*), ARMCI_Barrier(void), armci_msg_barrier(void);
void armci_msg_group_barrier(group*);
int ARMCI_Rmw(int, void*, void*, int, int);
int ARMCI_Malloc(void**, long), ARMCI_Malloc_memdev(void**, long, const char*), ARMCI_Free(void*), ARMCI_Free_memdev(void*);
int ARMCI_Malloc_group(void**, long, group*), ARMCI_Malloc_group_memdev(void**, long, group*, const char*);
int ARMCI_Free_group(void*, group*), ARMCI_Free_local(void*);
void* ARMCI_Malloc_local(long);
void ARMCI_Memget(size_t, void*, int), *ARMCI_Memat(void*, long), ARMCI_Memctl(void*);
void ARMCI_Access_begin(void*), ARMCI_Access_end(void*);
int ARMCI_Create_mutexes(int), ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int, int), ARMCI_Unlock(int, int);
int armci_notify(int), armci_notify_wait(int, int*);
void ARMCI_Group_create(int, int*, group*), ARMCI_Group_create_child(int, int*, group*, group*), ARMCI_Group_free(group*);
void ARMCI_Group_set_default(group*), ARMCI_Group_get_world(group*);
int armci_msg_me(void), armci_msg_nproc(void);

static double sum;
static void add(double value) { sum += value; }

int main(int argc, char** argv) {
  static double mine[64];
  void *at[64], *other[64];
  handle h;
  group world, all, child;
  memset(&h, 0, sizeof h);
#ifdef COMEX
  MPI_Init(&argc, &argv);
  ARMCI_Init_mpi_comm(MPI_COMM_WORLD);
#else
  MPI_Init(&argc, &argv);
  ARMCI_Init_thread_comm(0, MPI_COMM_WORLD);
  ARMCI_Init_thread(0);
#endif
  ARMCI_Init();
  ARMCI_Init_args(&argc, &argv);
  add(ARMCI_Initialized());
  const int me = armci_msg_me(), n = armci_msg_nproc(), next = (me + 1) % n;
  for (int i = 0; i < 64; ++i) mine[i] = i;
  ARMCI_Malloc(at, sizeof mine);
  double* const there = at[next];
  ARMCI_Malloc_memdev(other, 64, "");
  ARMCI_Free_memdev(other[me]);
  ARMCI_Create_mutexes(2);

  double one = 1, got[64] = {0};
  int stride[1] = {16}, count[2] = {8, 3}, numbers[64];
  for (int i = 0; i < n; ++i) numbers[i] = i;
  void *from[2] = {mine + 1, mine + 2}, *to[2] = {there + 30, there + 31}, *back[2] = {got + 1, got + 2};
#ifdef COMEX
  vector puts = {from, to, 2, 8}, gets = {to, back, 2, 8};
#else
  vector puts = {from, to, 8, 2}, gets = {to, back, 8, 2};
#endif
  ARMCI_Put(mine, there, 16, next);
  ARMCI_Acc(kAccDouble, &one, mine, there, 16, next);
  ARMCI_Get(there, got, 16, next);
  add(got[1]);
  ARMCI_PutS(mine, stride, there + 8, stride, count, 1, next);
  ARMCI_AccS(kAccDouble, &one, mine, stride, there + 8, stride, count, 1, next);
  ARMCI_GetS(there + 8, stride, got + 8, stride, count, 1, next);
  add(got[10]);
  ARMCI_PutV(&puts, 1, next);
  ARMCI_AccV(kAccDouble, &one, &puts, 1, next);
  ARMCI_GetV(&gets, 1, next);
  add(got[2]);
  ARMCI_Put_flag(mine, there, 8, (int*)(there + 60), 1, next);
  ARMCI_PutS_flag(mine, stride, there + 8, stride, count, 1, (int*)(there + 60), 2, next);
  ARMCI_PutValueInt(1, there + 40, next);
  ARMCI_PutValueLong(2, there + 41, next);
  ARMCI_PutValueFloat(3, there + 42, next);
  ARMCI_PutValueDouble(4, there + 43, next);
  ARMCI_NbPutValueInt(5, there + 44, next, &h);
  ARMCI_NbPutValueLong(6, there + 45, next, &h);
  ARMCI_NbPutValueFloat(7, there + 46, next, &h);
  ARMCI_NbPutValueDouble(8, there + 47, next, &h);
  ARMCI_Fence(next);
  add(ARMCI_GetValueInt(there + 40, next) + ARMCI_GetValueLong(there + 41, next));
  add(ARMCI_GetValueFloat(there + 42, next) + ARMCI_GetValueDouble(there + 43, next));
  ARMCI_NbPut(mine, there + 20, 16, next, &h);
  ARMCI_Wait(&h);
  ARMCI_NbPutS(mine, stride, there + 8, stride, count, 1, next, &h);
  ARMCI_NbAccS(kAccDouble, &one, mine, stride, there + 8, stride, count, 1, next, &h);
  ARMCI_NbPutV(&puts, 1, next, &h);
  ARMCI_NbAccV(kAccDouble, &one, &puts, 1, next, &h);
  ARMCI_WaitProc(next);
  ARMCI_AllFence();
  ARMCI_NbGet(there, got + 20, 16, next, &h);
  while (ARMCI_Test(&h) != 0) {}
  add(got[20]);
  ARMCI_NbGetS(there + 8, stride, got + 8, stride, count, 1, next, 0);
  ARMCI_NbGetV(&gets, 1, next, 0);
  ARMCI_WaitAll();
  add(got[10] + got[2]);
  ARMCI_Barrier();
  int small = 0;
  long large = 0;
  ARMCI_Rmw(kAdd, &small, there + 50, 3, next);
  ARMCI_Rmw(kAddLong, &large, there + 51, 4, next);
  ARMCI_Rmw(kSwap, &small, there + 50, 0, next);
  ARMCI_Rmw(kSwapLong, &large, there + 51, 0, next);
  add(small + (double)large);
  ARMCI_Lock(1, 0);
  ARMCI_Unlock(1, 0);
  armci_msg_barrier();

  ARMCI_Group_get_world(&world);
  ARMCI_Group_create(n, numbers, &all);
  ARMCI_Group_create_child(n, numbers, &child, &world);
  ARMCI_Group_set_default(&world);
  armci_msg_group_barrier(&all);
  ARMCI_Malloc_group(other, 64, &all);
  ARMCI_Free_group(other[me], &all);
  ARMCI_Group_free(&child);
  void* const local = ARMCI_Malloc_local(8);
  ARMCI_Free_local(local);
#ifdef COMEX
  int value = 0;
  ARMCI_PutS_flag_dir(mine, stride, there + 8, stride, count, 1, (int*)(there + 60), 3, next);
  ARMCI_GroupFence(&all);
  ARMCI_Memget(8, got, 0);
  add(ARMCI_Memat(got, 8) == got + 1);
  ARMCI_Memctl(got);
  armci_notify(next);
  armci_notify_wait((me + n - 1) % n, &value);
  add(value);
#else
  ARMCI_NbAcc(kAccDouble, &one, mine, there + 20, 16, next, &h);
  ARMCI_Wait(&h);
  ARMCI_Malloc_group_memdev(other, 64, &all, "");
  ARMCI_Free_group(other[me], &all);
  ARMCI_Access_begin(at[me]);
  ARMCI_Access_end(at[me]);
#endif
  ARMCI_Group_free(&all);
  ARMCI_Destroy_mutexes();
  ARMCI_Free(at[me]);
  ARMCI_Finalize();
  if (me == 0) printf("%d processes of ARMCI found %g\n", n, sum);
  return MPI_Finalize();
}
