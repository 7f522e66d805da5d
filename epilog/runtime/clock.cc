#include "epilog/runtime/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kojak::measure {

Clock the_clock;

namespace {

#if defined(__x86_64__)
bool tsc_is_invariant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

// The kernel watches the TSC on every core and falls back to another source when they disagree.
bool kernel_trusts_tsc() {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[16] = {};
  const ssize_t got = read(fd, name, sizeof name - 1);
  close(fd);
  return got >= 3 && std::strncmp(name, "tsc", 3) == 0;
}
#endif

}  // namespace

void choose_clock() {
#if defined(__x86_64__)
  the_clock.tsc = tsc_is_invariant() && kernel_trusts_tsc();
#endif
}

ClockPair read_both_clocks() {
  ClockPair best;
  Ticks narrowest = ~Ticks{0};
  for (int i = 0; i < 16; ++i) {
    const Ticks before = ticks();
    const Ticks middle = monotonic_nanoseconds();
    const Ticks after = ticks();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, middle};
    }
  }
  return best;
}

double calibrate(const ClockPair& first, const ClockPair& second) {
  if (!the_clock.tsc || second.ticks <= first.ticks) return 1e-9;
  return static_cast<double>(second.nanoseconds - first.nanoseconds) * 1e-9 /
         static_cast<double>(second.ticks - first.ticks);
}

}  // namespace kojak::measure
