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

// From one moment to a later one: what lies end to end adds up to the whole.
constexpr Ticks ticks_between(double from, double to) {
  const auto moment = [](double seconds) {
    const double ticks = seconds * kTicksPerSecond;
    if (!(ticks < 0x1p62 && ticks > -0x1p62)) [[unlikely]]
      return ticks > 0 ? Ticks{1} << 62 : Ticks{0};
    return static_cast<Ticks>(ticks);
  };
  return moment(to) - moment(from);
}

}  // namespace kojak::earl
