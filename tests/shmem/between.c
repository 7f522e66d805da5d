/* A program, and with LIBRARY a library between it and SHMEM that counts barriers and tells their number at the end. */
#include <shmem.h>
#include <stdio.h>
#ifdef LIBRARY
void pshmem_init(void), pshmem_barrier_all(void), pshmem_finalize(void);
static int barriers;

void shmem_init(void) {
  pshmem_init();
}
void shmem_barrier_all(void) {
  ++barriers;
  pshmem_barrier_all();
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
