// Nouns in the number that a count asks for.
#pragma once

#include <cstdint>
#include <string>

namespace kojak::expert {

// What stands behind a count: "fence", "fences".
inline std::string of_count(std::uint64_t count, const char* one, const char* several) {
  return count == 1 ? one : several;
}
// With the count: "1 fence", "2 fences".
inline std::string counted(std::uint64_t count, const char* one, const char* several) {
  return std::to_string(count) + ' ' + of_count(count, one, several);
}

}  // namespace kojak::expert
