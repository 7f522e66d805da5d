// Sorts what lies in a log by a whole number that is not negative, keeping the order of equals.
//
// Linear: digits of 11 bits, those alone that differ. Nothing is done where it is sorted already.
// Memory: as much again, from the same LogMemory. Nothing fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "expert/log_memory.h"

namespace kojak::expert {

template <class T, class Key>
void sort_by(LogVector<T>& all, LogMemory& memory, Key&& key) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  std::uint64_t least = ~std::uint64_t{0}, most = 0, last = 0;
  bool sorted = true;
  for (const T& one : all) {
    const auto k = static_cast<std::uint64_t>(key(one));
    sorted = sorted && last <= k;
    last = k;
    least = std::min(least, k);
    most = std::max(most, k);
  }
  if (sorted) return;
  LogVector<T> other(all.size(), memory);
  for (unsigned shift = 0; shift < 64 && (most - least) >> shift != 0; shift += kBits) {
    const auto digit = [&](const T& one) {
      return (static_cast<std::uint64_t>(key(one)) - least) >> shift & (kDigits - 1);
    };
    std::array<std::size_t, kDigits> place{};
    for (const T& one : all) ++place[digit(one)];
    std::size_t sum = 0;
    for (std::size_t& p : place) {
      const std::size_t here = p;
      p = sum;
      sum += here;
    }
    for (const T& one : all) other[place[digit(one)]++] = one;
    all.swap(other);
    memory.rest();
  }
}

}  // namespace kojak::expert
