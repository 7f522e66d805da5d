// How many of its random programs a test tries that every build runs.
#pragma once

#include <cstdint>

namespace kojak::test {

// The sanitizers see with a tenth what they would see with all, and take ten times as long; results
// are compared in the other builds.
inline std::uint64_t how_many(std::uint64_t all) {
#ifdef KOJAK_SANITIZED
  return (all + 9) / 10;
#else
  return all;
#endif
}

}  // namespace kojak::test
