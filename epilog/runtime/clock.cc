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

// The kernel watches its clock source, and takes another one when cores disagree.
[[maybe_unused]] bool kernel_trusts(const char* source) {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[32] = {};
  const ssize_t got = read(fd, name, sizeof name - 1);
  close(fd);
  return got > 0 && std::strncmp(name, source, std::strlen(source)) == 0;
}

bool counter_is_good() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
  return invariant && kernel_trusts("tsc");
#elif defined(__aarch64__)
  return counter_frequency() != 0 && kernel_trusts("arch_sys_counter");
#else
  return false;
#endif
}

}  // namespace

void choose_clock() {
  the_clock.counter = counter_is_good();
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
  if (!the_clock.counter || second.ticks <= first.ticks) return 1e-9;
  return static_cast<double>(second.nanoseconds - first.nanoseconds) * 1e-9 /
         static_cast<double>(second.ticks - first.ticks);
}

}  // namespace kojak::measure
