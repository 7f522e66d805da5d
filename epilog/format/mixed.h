// Hashes that are the same in all processes. Pure functions; nothing fails.
#pragma once

#include <cstdint>

namespace kojak {

// A number that nothing of what went into it can be seen from (splitmix64, Steele et al. 2014).
constexpr std::uint64_t mixed(std::uint64_t n) {
  n += 0x9E3779B97F4A7C15u;
  n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
  n = (n ^ n >> 27) * 0x94D049BB133111EBu;
  return n ^ n >> 31;
}
template <class... Rest>
constexpr std::uint64_t mixed(std::uint64_t first, Rest... rest) {
  return mixed(mixed(first) ^ mixed(static_cast<std::uint64_t>(rest)...));
}

}  // namespace kojak
