/* A program, and with LIBRARY a library between it and SHMEM. The library counts barriers and tells their number at the end;
 * with SERVER set in the environment its last PE is a server, which stays in shmem_init until shmem_finalize, and barriers
 * are those of the others.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LIBRARY
void pshmem_init(void), pshmem_barrier_all(void), pshmem_finalize(void), pshmem_barrier(int, int, int, long*);
int pshmem_my_pe(void), pshmem_n_pes(void);
static int barriers, clients;
static long sync[SHMEM_BARRIER_SYNC_SIZE];

void shmem_init(void) {
  pshmem_init();
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) sync[i] = SHMEM_SYNC_VALUE;
  clients = pshmem_n_pes() - (getenv("SERVER") != NULL);
  pshmem_barrier_all();
  if (pshmem_my_pe() < clients) return;
  pshmem_finalize();
  exit(0);
}
void shmem_barrier_all(void) {
  ++barriers;
  pshmem_barrier(0, 0, clients, sync);
}
void shmem_finalize(void) {
  printf("counted %d\n", barriers);
  fflush(stdout);
  pshmem_finalize();
}
#else
int main(void) {
  shmem_init();
  for (int i = 0; i < 3; ++i) shmem_barrier_all();
  printf("pe %d\n", shmem_my_pe());
  shmem_finalize();
  return 0;
}
#endif
