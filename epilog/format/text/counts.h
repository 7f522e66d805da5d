// Numbers in words: counts with commas, nouns in the number that a count asks for, and so many
// digits behind a point.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kojak {

// "12", "1,234,567".
inline std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}
// What stands behind a count: "fence", "fences".
inline std::string of_count(std::uint64_t count, const char* one, const char* several) {
  return count == 1 ? one : several;
}
// With the count: "1 fence", "2 fences".
inline std::string counted(std::uint64_t count, const char* one, const char* several) {
  return std::to_string(count) + ' ' + of_count(count, one, several);
}

// With so many digits behind the point.
inline std::string fixed(double value, int decimals) {
  std::array<char, 400> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return {digits.data(), end.ptr};
}

}  // namespace kojak
