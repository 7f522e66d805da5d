/* What a measured program finds as it would without the library: its floating-point state after calls of every kind,
   and the stacks of its threads. Prints what it finds; how much of their stacks threads have touched goes to the file
   that KOJAK_STACK names. */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "epilog/runtime/elg_user.h"

static int rank, other;

static void messages(MPI_Comm comm) {
  int out = rank, in[3] = {-1, -1, -1};
  MPI_Request requests[6];
  MPI_Sendrecv(&out, 1, MPI_INT, other, 7, in, 1, MPI_INT, other, 7, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Irecv(&in[i], 1, MPI_INT, other, 10 + i, comm, &requests[i]);
  for (int i = 0; i < 3; ++i) MPI_Isend(&out, 1, MPI_INT, other, 10 + i, comm, &requests[3 + i]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  MPI_Recv_init(in, 1, MPI_INT, other, 20, comm, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, other, 20, comm, &requests[1]);
  MPI_Startall(2, requests);
  for (int done = 0; !done;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  if (in[0] != other) printf("%d: received %d\n", rank, in[0]);
}

static void collectives(MPI_Comm comm) {
  int value = 1, sum = 0;
  MPI_Request request;
  MPI_Barrier(comm);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void transfers(MPI_Win window) {
  int value = 5, got = 0;
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Get(&got, 1, MPI_INT, other, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
  MPI_Accumulate(&value, 1, MPI_INT, other, 1, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock(other, window);
}

static void regions(void) {
  ELG_USER_START("unharmed");
  ELG_USER_END("unharmed");
  MPI_Pcontrol(2);
  MPI_Pcontrol(0);
  MPI_Pcontrol(1);
}

static void objects(void) {
  MPI_Comm copy;
  MPI_Win window;
  static int memory[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, copy, &window);
  transfers(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&copy);
}

static void begin(void) {
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(FE_UPWARD);
}
static void end(const char* what) {
  const int flags = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
  fesetround(FE_TONEAREST);
  printf("%d: %s: flags %x, rounding %s\n", rank, what, (unsigned)flags, rounding == FE_UPWARD ? "up" : "CHANGED");
}

static void* in_thread(void* comm) {
  begin();
  messages(*(MPI_Comm*)comm);
  ELG_USER_START("in a thread");
  ELG_USER_END("in a thread");
  collectives(*(MPI_Comm*)comm);
  MPI_Pcontrol(2);
  end("thread");
  return NULL;
}

/* Bytes of a stack that a thread has touched, from its top. */
enum { kStack = 512 * 1024, kThreads = 4 };
static long touched(MPI_Comm comm) {
  unsigned char* const stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(stack, 0xA5, kStack);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kStack);
  pthread_create(&thread, &attributes, in_thread, &comm);
  pthread_join(thread, NULL);
  long untouched = 0;
  while (stack[untouched] == 0xA5) ++untouched;
  munmap(stack, kStack);
  return kStack - untouched;
}

int main(int argc, char** argv) {
  int level;
  begin();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int flags = fetestexcept(FE_ALL_EXCEPT);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = rank ^ 1;
  end("start");
  printf("%d: flags %x right behind the start\n", rank, (unsigned)flags);

  static int memory[2];
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  /* Once before, for what MPI sets up at the first call of a kind. */
  for (int i = 0; i < 2; ++i) {
    begin();
    messages(MPI_COMM_WORLD);
    if (i != 0) end("messages");
    begin();
    collectives(MPI_COMM_WORLD);
    if (i != 0) end("collectives");
    begin();
    transfers(window);
    if (i != 0) end("transfers");
    begin();
    regions();
    if (i != 0) end("regions");
    begin();
    objects();
    if (i != 0) end("objects");
  }
#ifdef __x86_64__
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < 20; ++i) {
    messages(MPI_COMM_WORLD);
    collectives(MPI_COMM_WORLD);
    transfers(window);
    regions();
  }
  const int traps = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  printf("%d: traps %s\n", rank, traps == FE_ALL_EXCEPT ? "on" : "CHANGED");
#endif
  if (level == MPI_THREAD_MULTIPLE) {
    const char* const file = getenv("KOJAK_STACK");
    FILE* const stacks = rank == 0 && file != NULL ? fopen(file, "w") : NULL;
    for (int i = 0; i < kThreads; ++i) {
      const long bytes = touched(MPI_COMM_WORLD);
      if (stacks != NULL) fprintf(stacks, "%ld\n", bytes);
    }
    if (stacks != NULL) fclose(stacks);
  }
  MPI_Win_free(&window);
  begin();
  MPI_Finalize();
  end("end");
  return 0;
}
