/* A library with OpenMP that a program opens while it runs (late_program.c): a sum over three
 * teams. */
#include <omp.h>
#include <unistd.h>

int late_work(int threads);
int late_work(int threads) {
  int sum = 0;
  for (int step = 0; step < 3; ++step) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
      sum += omp_get_thread_num() + 1;
#pragma omp critical
      usleep(2000);
    }
  }
  return sum;
}
