/* A SHMEM program that hangs: hang CASE. PE 1 computes for ever, or tests; the others stand in a
   call that waits for it. Each PE writes ready.PE before: a time before its last call, that of its
   beginning to stand still, and its process. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long flag, fixed_lock, memory[8];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "barrier";
  shmem_init();
  const int me = shmem_my_pe();
  const int locks = strcmp(mode, "lock") == 0 || strcmp(mode, "heap_lock") == 0;
  long* lock = &fixed_lock;
  if (strcmp(mode, "heap_lock") == 0) {
    lock = shmem_malloc(sizeof *lock);
    *lock = 0;
  }
  static long psync[SHMEM_BCAST_SYNC_SIZE];
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  const double noted = now();
  if (me == 1 && locks) shmem_set_lock(lock);
  shmem_barrier_all();
  char name[32];
  snprintf(name, sizeof name, "ready.%d", me);
  FILE* file = fopen(name, "w");
  fprintf(file, "%.9f %.9f %d\n", noted, now(), (int)getpid());
  fclose(file);
  if (me == 1) {
    while (strcmp(mode, "poll") != 0 || !shmem_long_test(&flag, SHMEM_CMP_EQ, 1)) usleep(1000);
  }
  if (strcmp(mode, "wait") == 0 && me == 0) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  if (locks && me == 0) shmem_set_lock(lock);
  if (strcmp(mode, "broadcast") == 0)
    shmem_broadcast64(memory, memory + 4, 1, 1, 0, 0, shmem_n_pes(), psync);
  shmem_barrier_all();
  return 0;
}
