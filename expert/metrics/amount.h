// Times and amounts of waiting as whole numbers, so that sums do not depend on their order and
// nothing is lost when an amount is divided. Plain values; nothing fails; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "earl/ticks.h"

namespace kojak::expert {

using earl::in_seconds;
using earl::in_ticks;
using earl::kMostWhole;
using earl::kTicksPerSecond;
using earl::limited_sum;
using earl::nearest_whole;
using earl::Ticks;

// A sum of times. Each is rounded once, when it is added, so the sum does not depend on the order.
// It stays at its limit, 97 days.
class TimeSum {
 public:
  constexpr TimeSum() = default;
  constexpr explicit TimeSum(Ticks ticks) : ticks_(ticks) {}
  static TimeSum of(double seconds) { return TimeSum(in_ticks(seconds)); }

  void add(double seconds) { *this += TimeSum(in_ticks(seconds)); }
  TimeSum& operator+=(TimeSum other) {
    ticks_ = earl::sum_of(ticks_, other.ticks_);
    return *this;
  }
  TimeSum& operator-=(TimeSum other) { return *this += TimeSum(-other.ticks_); }
  friend TimeSum operator-(TimeSum a, TimeSum b) { return a -= b; }

  Ticks ticks() const { return ticks_; }
  double seconds() const { return in_seconds(ticks_); }
  explicit operator bool() const { return ticks_ > 0; }
  auto operator<=>(const TimeSum&) const = default;

 private:
  Ticks ticks_ = 0;
};

// The same where it has to lie at a multiple of 4 bytes.
class PackedTicks {
 public:
  PackedTicks() = default;
  PackedTicks(Ticks ticks)  // NOLINT: it is one
      : low_(static_cast<std::uint32_t>(ticks)), high_(static_cast<std::uint32_t>(ticks >> 32)) {}
  operator Ticks() const { return static_cast<Ticks>(std::uint64_t{high_} << 32 | low_); }

 private:
  std::uint32_t low_ = 0, high_ = 0;
};

// A sum of them, for any number of processes.
__extension__ using Amount = __int128;
constexpr double in_seconds(Amount amount) {
  return static_cast<double>(amount) / kTicksPerSecond;
}
// amount * part / whole, rounded down; whole > 0, none of them negative.
constexpr Amount share_of(Amount amount, Ticks part, Ticks whole) {
  constexpr Amount kHalf = Amount{1} << 31;  // the product of two such needs no long division
  if (amount < kHalf && part < kHalf) return static_cast<Ticks>(amount) * part / whole;
  return amount * part / whole;
}

}  // namespace kojak::expert
