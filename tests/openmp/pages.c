/* Each thread of a team touches pages of memory that nobody touched before: counters of threads.
 * Prints `note RANK THREAD FAULTS` for each: page faults as the kernel counts them for the thread
 * while it touches. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { kPage = 4096, kSteps = 3, kMostThreads = 16 };
static long faults[kMostThreads];

static long count(void) {
  struct rusage u;
  getrusage(RUSAGE_THREAD, &u);
  return u.ru_minflt;
}

int main(int argc, char** argv) {
  int provided, rank;
  const int threads = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < kSteps; ++step) {
    const size_t size = (size_t)kMostThreads * 1000 * kPage;
    char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    madvise(memory, size, MADV_NOHUGEPAGE);
#pragma omp parallel num_threads(threads)
    {
      const int t = omp_get_thread_num();
      const long before = count();
      for (int i = 0; i < 300 * (t + 1); ++i) memory[((size_t)t * 1000 + (size_t)i) * kPage] = 1;
      faults[t] += count() - before;
#pragma omp critical
      memory[0] = 2;
    }
    munmap(memory, size);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int t = 0; t < threads; ++t) printf("note %d %d %ld\n", rank, t, faults[t]);
  MPI_Finalize();
  return 0;
}
