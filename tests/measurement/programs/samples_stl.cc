// Samples of functions that stand in the standard library's headers, inlined or not: the program's
// own function around them computes, at its own line. Process 1 computes longer in relax(); all
// compute alike in smooth(). Each prints how much processor time it has used in each.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

static double used() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

static std::unordered_map<long, double> values;
[[gnu::noinline]] static double relax(double x, int rounds) {
  for (int i = 0; i < rounds; ++i)
    values.clear(), x = 0.5 * x + 0.25 * values.emplace(i, x).first->second;  // in relax
  return x;
}

[[gnu::noinline]] static double smooth(double x, int rounds) {
  std::vector<double> line(64);
  for (int i = 0; i < rounds; ++i)
    line.at(i % 64) = x = 0.5 * x + 0.25 * line.at((i + 1) % 64);  // in smooth
  return x;
}

static double work(double (*what)(double, int), double seconds, double& value) {
  const double begin = used();
  while (used() - begin < seconds) value = what(value, 5000);
  return used() - begin;
}

int main(int argc, char** argv) {
  int me;
  double value = 0.5, relaxed = 0, smoothed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 0; i < 4; ++i) {
    relaxed += work(relax, me == 1 ? 0.2 : 0.02, value);
    smoothed += work(smooth, 0.05, value);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf("rank %d relax %.6f smooth %.6f\n", me, relaxed, smoothed);
  MPI_Finalize();
  return value < 1e300 ? 0 : 1;
}
