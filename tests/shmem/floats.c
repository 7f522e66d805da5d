/* The floating-point state that a program finds behind calls of SHMEM. */
#define _GNU_SOURCE
#include <fenv.h>
#include <shmem.h>
#include <stdio.h>

static long target, flag, lock;

static void calls(int other) {
  shmem_long_p(&target, 3, other);
  shmem_quiet();
  (void)shmem_long_g(&target, other);
  shmem_barrier_all();
  shmem_long_atomic_inc(&flag, other);
  shmem_long_wait_until(&flag, SHMEM_CMP_GE, 1);
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  shmem_fence();
  shmem_barrier_all();
  flag = 0;
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), other = me ^ 1;
  calls(other);
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(FE_UPWARD);
  for (int i = 0; i < 20; ++i) calls(other);
  const int flags = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
  fesetround(FE_TONEAREST);
  printf("%d: flags %x, rounding %s\n", me, (unsigned)flags, rounding == FE_UPWARD ? "up" : "CHANGED");
#ifdef __x86_64__
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < 20; ++i) calls(other);
  const int traps = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  printf("%d: traps %s\n", me, traps == FE_ALL_EXCEPT ? "on" : "CHANGED");
#endif
  feclearexcept(FE_ALL_EXCEPT);
  shmem_finalize();
  printf("%d: flags %x at the end\n", me, (unsigned)fetestexcept(FE_ALL_EXCEPT));
  return 0;
}
