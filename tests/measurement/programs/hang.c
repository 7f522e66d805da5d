/* Programs that hang, each in its own way: hang MODE, on three processes.
 *
 * Every process writes the time of day (seconds) and its number to ready.RANK just before it stands
 * still for good, so that it can be ended from outside. Whoever is not in an MPI call sleeps.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int me;

static void ready(void) {
  char name[32];
  struct timespec now;
  snprintf(name, sizeof name, "ready.%d.tmp", me);
  FILE* file = fopen(name, "w");
  clock_gettime(CLOCK_REALTIME, &now);
  fprintf(file, "%.9f %d\n", (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, (int)getpid());
  fclose(file);
  char final[32];
  snprintf(final, sizeof final, "ready.%d", me);
  rename(name, final);
}

static void stand_outside(void) {
  ready();
  for (;;) pause();
}

static void in_barrier(void) {
  ready();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void epochs(const char* mode, MPI_Win win) {
  MPI_Group all, other;
  MPI_Win_get_group(win, &all);
  if (me == 2) in_barrier();
  const int peer = 1 - me;
  MPI_Group_incl(all, 1, &peer, &other);
  double value = 1;
  if (me == 0 && strcmp(mode, "wait") == 0) { /* nobody completes */
    MPI_Win_post(other, 0, win);
    ready();
    MPI_Win_wait(win);
  } else if (me == 0) { /* nobody posts */
    ready();
    MPI_Win_start(other, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
  } else if (strcmp(mode, "wait") == 0) {
    MPI_Win_start(other, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
    stand_outside();
  } else {
    stand_outside();
  }
}

/* Rank 1 holds the lock of rank 2 for good; rank 0 wants it. */
static void locks(MPI_Win win) {
  double value = 1;
  if (me == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(2, win);
    MPI_Send(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    stand_outside();
  } else if (me == 0) {
    MPI_Recv(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ready();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Win_flush(2, win);
    MPI_Win_unlock(2, win);
  } else {
    in_barrier();
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "recv";
  double *memory, value[2] = {0, 0};
  MPI_Win win;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Alloc_mem(sizeof(double), MPI_INFO_NULL, &memory);
  MPI_Win_create(memory, sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (strcmp(mode, "wait") == 0 || strcmp(mode, "start") == 0) epochs(mode, win);
  if (strcmp(mode, "lock") == 0) locks(win);
  if (strcmp(mode, "recv") == 0) {
    if (me == 1) stand_outside();
    ready();
    MPI_Recv(value, 1, MPI_DOUBLE, me == 0 ? 1 : MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "send") == 0) {
    if (me == 1) stand_outside();
    if (me == 2) in_barrier();
    ready();
    MPI_Ssend(value, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
  }
  if (strcmp(mode, "barrier") == 0) {
    if (me == 1) stand_outside();
    in_barrier();
  }
  if (strcmp(mode, "fence") == 0) {
    MPI_Win_fence(0, win);
    if (me == 1) stand_outside();
    ready();
    MPI_Win_fence(0, win);
  }
  if (strcmp(mode, "begun") == 0) {
    if (me == 1) stand_outside();
    MPI_Ibarrier(MPI_COMM_WORLD, requests);
    ready();
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "waitall") == 0) { /* the message of rank 2 comes, that of rank 1 does not */
    if (me == 2) MPI_Send(value, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    if (me == 2) in_barrier();
    if (me == 1) stand_outside();
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(value + i, 1, MPI_DOUBLE, i + 1, 5, MPI_COMM_WORLD, requests + i);
    ready();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (strcmp(mode, "deadlock") == 0) {
    if (me == 2) in_barrier();
    ready();
    MPI_Recv(value, 1, MPI_DOUBLE, 1 - me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "mismatch") == 0) { /* one of them calls another collective operation */
    ready();
    if (me == 1) MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;) MPI_Recv(value, 1, MPI_DOUBLE, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
