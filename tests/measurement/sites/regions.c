/* Regions of the user by elg_user.h: nested, across pauses, left by a longjmp, in callbacks and in threads.
 * run_regions.py knows which must be in the trace. Compiled with -DELG_DISABLE, none is.
 */
#include "epilog/runtime/elg_user.h"

#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;

static void rank_of(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void callback(void* in, void* inout, int* count, MPI_Datatype* type) {
  ELG_USER_START("in callback"); /* inside of MPI: not recorded */
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
  ELG_USER_END("in callback");
}

static void jumps(void) {
  ELG_USER_START("jumped out of");
  ELG_USER_START("and of this");
  longjmp(back, 1);
}

static void* thread(void* unused) {
  ELG_USER_START("thread's work");
  ELG_USER_END("thread's work");
  return unused;
}

static void function(void) {
  ELG_FUNC_START();
  rank_of();
  ELG_FUNC_END();
}

/* A name that is used once only, and is written into the region, not beside it. */
static char long_name[301];

static void by_name(const char* name, int begin) {
  static struct elg_region region = {NULL, NULL, 0};
  region.name = name;
  if (begin && elg_region_begin) elg_region_begin(&region);
  if (!begin && elg_region_end) elg_region_end(name);
}

int main(int argc, char** argv) {
  ELG_USER_START("since before MPI_Init");
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  ELG_USER_START("outer");
  ELG_USER_START("inner");
  rank_of();
  ELG_USER_END("inner");
  function();

  /* Off: "inner" is left and entered again by another name, one more stays open. */
  ELG_USER_START("left in the pause");
  MPI_Pcontrol(0);
  ELG_USER_END("left in the pause");
  ELG_USER_START("all in the pause");
  ELG_USER_END("all in the pause");
  ELG_USER_START("entered in the pause");
  MPI_Pcontrol(1);
  rank_of();
  ELG_USER_END("entered in the pause");

  if (setjmp(back) == 0) jumps();
  ELG_USER_END("jumped out of");

  MPI_Op op;
  MPI_Op_create(callback, 1, &op);
  int one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);

  memset(long_name, 'n', sizeof long_name - 1);
  by_name(long_name, 1);
  by_name(long_name, 0);
  ELG_USER_END("never begun");
  ELG_USER_START("excluded");
  rank_of();
  ELG_USER_END("excluded");

  pthread_t other;
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  ELG_USER_START("still open at the end");
  MPI_Finalize();
  ELG_USER_END("still open at the end");
  printf("sum %d\n", sum);
  return 0;
}
