// The processor's counter as a clock, on the machine that this is compiled for: it runs forward, at the rate that the
// calibration finds, and the time between two moments is CLOCK_MONOTONIC's.
#include <cmath>
#include <cstdio>
#include <ctime>

#include "epilog/runtime/clock.h"

using namespace kojak::measure;

namespace {

int faults = 0;
void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "counter_check: %s\n", what);
  ++faults;
}

ClockPair later(long milliseconds) {
  const timespec pause = {0, milliseconds * 1000000};
  nanosleep(&pause, nullptr);
  return read_both_clocks();
}

double between(const ClockPair& a, const ClockPair& b) {
  return static_cast<double>(b.nanoseconds - a.nanoseconds) * 1e-9;
}

}  // namespace

int main() {
  choose_clock();
  std::printf("the kernel's clock is the counter: %s\n", the_clock.counter ? "yes" : "no");
  check(kHasCounter, "this processor has no counter");
  the_clock.counter = true;  // whatever the kernel thinks of it here
  Ticks last = ticks();
  for (int i = 0; i < 100000; ++i) {
    const Ticks now = ticks();
    check(now >= last, "the counter runs backwards");
    last = now;
    if (faults != 0) return 1;
  }
  const ClockPair first = read_both_clocks(), second = later(50), third = later(100);
  the_clock.base = first.ticks;
  the_clock.scale = calibrate(first, second);
  // Both clocks count the same time; a hundredth is more than two readings can be apart.
  const double counted = to_seconds(third.ticks).value - to_seconds(second.ticks).value;
  check(std::fabs(counted / between(second, third) - 1) < 0.01, "the counter has another time than CLOCK_MONOTONIC");
#if defined(__aarch64__)
  const double said = 1 / static_cast<double>(counter_frequency());
  check(std::fabs(the_clock.scale / said - 1) < 0.01, "the counter has another rate than cntfrq_el0 says");
#endif
  std::printf("%.3f counts a nanosecond\n", 1e-9 / the_clock.scale);
  return faults == 0 ? 0 : 1;
}
