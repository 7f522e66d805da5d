/* Nanoseconds of CPU time per SHMEM call: shmem_cost CALLS, on 2 PEs. As measurement_cost.c.
 *
 * First what PE 0 does alone, where is seen what the measurement adds. Then transfers to PE 1,
 * which waits in the library, since Open MPI needs it for them; what they take depends on whether
 * both have a processor.
 */
#include <shmem.h>

#include "pieces.h"

static long memory[64], from[64], done;

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  shmem_init();
  if (shmem_my_pe() == 0) {
    MEASURE("p_to_itself", shmem_long_p(&memory[0], i, 0), shmem_quiet());
    MEASURE("put_to_itself", shmem_putmem(memory, from, 64, 0), shmem_quiet());
    MEASURE("get_of_itself", shmem_getmem(from, memory, 64, 0), (void)0);
    MEASURE("quiet", shmem_quiet(), (void)0);
    MEASURE("test", shmem_long_test(&done, SHMEM_CMP_EQ, 7), (void)0);
    MEASURE("my_pe", shmem_my_pe(), (void)0);
    MEASURE("put_and_quiet", shmem_putmem(memory, from, 64, 1); shmem_quiet(), (void)0);
    MEASURE("get", shmem_getmem(from, memory, 64, 1), (void)0);
    shmem_long_p(&done, 1, 1);
  } else {
    shmem_long_wait_until(&done, SHMEM_CMP_EQ, 1);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
