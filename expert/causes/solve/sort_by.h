// Sorts what lies in a log by a whole number that is not negative, keeping the order of equals.
//
// Linear: what lies near its place is moved there, else by digits of 11 bits, those that differ.
// Memory: for the latter as much again, from the log's LogMemory. Nothing fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "epilog/format/io/log_memory.h"

namespace kojak::expert {

// Where each lies near its place: true if that was so. `rest`: called after every few MB.
template <class T, class Earlier, class Rest>
bool insert_each(std::span<T> all, Earlier&& earlier, Rest&& rest) {
  constexpr std::size_t kNear = 64;
  constexpr std::size_t kAtOnce = (std::size_t{4} << 20) / sizeof(T);
  std::size_t next_rest = kAtOnce;
  std::size_t moves = 8 * all.size();  // at most: then the other way is faster
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (i == next_rest) {
      rest();
      next_rest += kAtOnce;
    }
    if (!earlier(all[i], all[i - 1])) continue;
    const std::size_t first = i - std::min(i, kNear);
    if (first != 0 && earlier(all[i], all[first])) return false;
    const T moved = all[i];
    std::size_t to = i;
    for (; to > first && earlier(moved, all[to - 1]); --to) all[to] = all[to - 1];
    all[to] = moved;
    if (moves < i - to) return false;
    moves -= i - to;
  }
  return true;
}

template <class T, class Earlier>
bool insert_each(std::span<T> all, Earlier&& earlier) {
  return insert_each(all, earlier, [] {});
}

template <class T, class Key>
void sort_by(std::span<T> all, LogMemory& memory, Key&& key) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  if (insert_each(
          all, [&](const T& a, const T& b) { return key(a) < key(b); }, [&] { memory.rest(); })) {
    return;
  }
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const T& one : all) {
    least = std::min(least, static_cast<std::uint64_t>(key(one)));
    most = std::max(most, static_cast<std::uint64_t>(key(one)));
  }
  LogVector<T> room(all.size(), memory);
  std::span<T> from = all, to(room.data(), room.size());
  for (unsigned shift = 0; shift < 64 && (most - least) >> shift != 0; shift += kBits) {
    const auto digit = [&](const T& one) {
      return (static_cast<std::uint64_t>(key(one)) - least) >> shift & (kDigits - 1);
    };
    std::array<std::size_t, kDigits> place{};
    for (const T& one : from) ++place[digit(one)];
    std::size_t sum = 0;
    for (std::size_t& p : place) {
      const std::size_t here = p;
      p = sum;
      sum += here;
    }
    for (const T& one : from) to[place[digit(one)]++] = one;
    std::swap(from, to);
    memory.rest();
  }
  if (from.data() != all.data()) std::copy(from.begin(), from.end(), all.begin());
}
template <class T, class Key>
void sort_by(LogVector<T>& all, Key&& key) {
  sort_by(std::span<T>(all.data(), all.size()), all.memory(), key);
}

}  // namespace kojak::expert
