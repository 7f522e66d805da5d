// Times and amounts of waiting as whole numbers, so that sums do not depend on their order. Pure
// functions; nothing fails.
#pragma once

#include <cstdint>
#include <limits>

namespace kojak::earl {

// Units of 2^-40 s (about a picosecond), from the first event of the trace: 97 days fit.
using Ticks = std::int64_t;
inline constexpr double kTicksPerSecond = 0x1p40;

// The nearest whole number, half away from 0; the limit for what is beyond it, 0 for what is no
// number. (Adding a half first is wrong from 2^52 on.)
inline constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t nearest_whole(double value) {
  if (!(value < 0x1p63 && value > -0x1p63)) [[unlikely]]
    return value > 0 ? kMostWhole : value < 0 ? -kMostWhole : 0;
  const auto whole = static_cast<std::int64_t>(value);
  const double rest = value - static_cast<double>(whole);
  return whole + (rest >= 0.5) - (rest <= -0.5);
}
constexpr Ticks in_ticks(double seconds) {
  return nearest_whole(seconds * kTicksPerSecond);
}
constexpr double in_seconds(Ticks ticks) {
  return static_cast<double>(ticks) / kTicksPerSecond;
}

// a + b, or the limit; `beyond` is raised then.
constexpr std::int64_t limited_sum(std::int64_t a, std::int64_t b, bool& beyond) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) [[likely]]
    return sum;
  beyond = true;
  return b < 0 ? -kMostWhole : kMostWhole;
}
constexpr Ticks sum_of(Ticks a, Ticks b) {
  bool beyond = false;
  return limited_sum(a, b, beyond);
}

// From one moment to a later one, each being cut to a whole number: what lies end to end adds up to
// the whole, wherever time begins. The limit for what is longer than 97 days, or is no number.
constexpr Ticks ticks_between(double from, double to) {
  if (!(to - from < 0x1p23 && to < 0x1p62 && from > -0x1p62)) [[unlikely]]
    return kMostWhole;
  // Modulo 2^64: the seconds of what has begun long ago are beyond it.
  const auto moment = [](double at) {
    const auto whole = static_cast<std::int64_t>(at);
    const double rest = at - static_cast<double>(whole);
    return (static_cast<std::uint64_t>(whole) << 40) +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(rest * kTicksPerSecond));
  };
  return static_cast<Ticks>(moment(to) - moment(from));
}

}  // namespace kojak::earl
