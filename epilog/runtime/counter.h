// The processor's counter, which runs at one rate on all cores: the TSC of x86-64, the virtual
// counter of aarch64. Reading it takes some nanoseconds and no call. Whether it may be trusted as a
// clock is the kernel's word (clock.h). Elsewhere there is none.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace kojak::measure {

#if defined(__x86_64__)
inline constexpr bool kHasCounter = true;
inline std::uint64_t read_counter() {
  return __rdtsc();
}
#elif defined(__aarch64__)
inline constexpr bool kHasCounter = true;
inline std::uint64_t read_counter() {
  std::uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}
// What the firmware says of its rate, in counts per second.
inline std::uint64_t counter_frequency() {
  std::uint64_t value;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(value));
  return value;
}
#else
inline constexpr bool kHasCounter = false;
inline std::uint64_t read_counter() {
  return 0;
}
#endif

}  // namespace kojak::measure
