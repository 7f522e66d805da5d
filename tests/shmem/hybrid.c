/* MPI's windows and symmetric memory in one program, in turn and at once: hybrid START STOP.
 *
 * Each process writes the same bytes by both ways; the trace must keep them apart (expect.h). In
 * Open MPI 4.1 shmem_finalize ends MPI, too: MPI_Finalize after it or in its place ends with a
 * fault, without kojak as well. So the program calls shmem_finalize alone, or none of both.
 */
#include <mpi.h>
#include <string.h>

#include "expect.h"

enum { kTimes = 20 };
static long symmetric[2 * kTimes], total, part, psync[SHMEM_REDUCE_SYNC_SIZE],
    work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void fence(MPI_Win window) {
  MPI_Win_fence(0, window);
  expect("MPI_Win_fence\n");
}

int main(int argc, char** argv) {
  const char* start = argc > 1 ? argv[1] : "mpi_first";
  const char* stop = argc > 2 ? argv[2] : "shmem_finalize";
  if (strcmp(start, "mpi_first") == 0) {
    MPI_Init(&argc, &argv);
    shmem_init();
  } else {
    shmem_init(); /* starts MPI */
  }
  begin_expecting();
  expect(strcmp(start, "mpi_first") == 0 ? "MPI_Init\nshmem_init\n" : "shmem_init\n");
  const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
  long* memory;
  MPI_Win window;
  MPI_Win_allocate(2 * kTimes * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  expect("MPI_Win_allocate\n");
  fence(window);
  for (long i = 0; i < kTimes; ++i) {
    const long value = 100 * me + i;
    MPI_Put(&value, 1, MPI_LONG, next, i, 1, MPI_LONG, window);
    expect("MPI_Put mpi_put:%d:8\n", next);
    shmem_long_p(symmetric + i, value, next);
    expect_put("shmem_long_p", next, sizeof(long), symmetric + i, 0, 0);
    long old = 0;
    if (i % 4 == 0) {
      MPI_Get(&old, 1, MPI_LONG, me, kTimes + i, 1, MPI_LONG, window);
      expect("MPI_Get mpi_get:%d:8\n", me);
      shmem_long_atomic_fetch_add(symmetric + kTimes, 1, 0);
      expect_fetch("shmem_long_atomic_fetch_add", 0, sizeof(long), symmetric + kTimes, 0);
    }
    if (i % 8 == 7) {
      fence(window);
      shmem_quiet();
      expect("shmem_quiet quiet:0\n");
    }
  }
  fence(window);
  MPI_Barrier(MPI_COMM_WORLD);
  expect("MPI_Barrier\n");
  barrier();
  for (int i = 0; i < kTimes; ++i)
    check(memory[i] == 100 * before + i && symmetric[i] == memory[i], "puts of both");
  check(me != 0 || symmetric[kTimes] == (kTimes / 4) * pes, "atomic operations");
  /* A message, and reductions of both. */
  long received = -1, sum = 0;
  MPI_Sendrecv(&symmetric[0], 1, MPI_LONG, next, 3, &received, 1, MPI_LONG, before, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv\n");
  part = me + 1;
  MPI_Allreduce(&part, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  expect("MPI_Allreduce\n");
  shmem_long_sum_to_all(&total, &part, 1, 0, 0, pes, work, psync);
  expect("shmem_long_sum_to_all coll:-:0,1,%d:8:8\n", pes);
  check(sum == total && sum == (long)pes * (pes + 1) / 2, "reductions");
  MPI_Win_free(&window);
  expect("MPI_Win_free\n");
  printf("PE %d: %d wrong results\n", me, wrong_results);
  fflush(stdout);
  if (strcmp(stop, "shmem_finalize") == 0) {
    expect("shmem_finalize quiet:all coll:-:0,1,%d:0:0\n", pes);
    end_expecting();
    shmem_finalize();
  } else {
    end_expecting();
  }
  return wrong_results != 0;
}
