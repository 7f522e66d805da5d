// Times and amounts of waiting as whole numbers, so that sums do not depend on their order and
// nothing is lost when an amount is divided. Plain values; nothing fails; any thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace kojak::expert {

// Units of 2^-40 s (about a picosecond), from the first event of the trace: 97 days fit.
using Ticks = std::int64_t;
inline constexpr double kTicksPerSecond = 0x1p40;

inline Ticks in_ticks(double seconds) {
  const double ticks = seconds * kTicksPerSecond;
  return static_cast<Ticks>(ticks < 0 ? ticks - 0.5 : ticks + 0.5);
}

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
