#include "expert/output/format.h"

#include <array>
#include <charconv>
#include <cmath>

namespace kojak::cube {
std::string format_value(Unit unit, double value) {
  const int decimals = unit == Unit::kSeconds ? 6 : value == std::trunc(value) ? 0 : 3;
  std::array<char, 400> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, decimals);
  return {buffer.data(), end.ptr};
}

std::string format_change(Unit unit, double value) {
  return (value > 0 ? "+" : "") + format_value(unit, value);
}

std::string format_exact(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

}  // namespace kojak::cube
