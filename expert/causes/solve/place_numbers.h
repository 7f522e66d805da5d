// Numbers, from 0 on, for pairs of a location and something at it (a stretch, a call path), in the
// order in which they are asked for first.
//
// Memory: 8 bytes for each pair and up to 16 for its places in a table, and 5 KB. Not thread-safe;
// nothing fails.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "expert/metrics/metric.h"

namespace kojak::expert {

class PlaceNumbers {
 public:
  std::uint32_t number(LocationIndex location, std::uint32_t what) {
    const std::uint64_t key = std::uint64_t{location} << 32 | what;
    // Most are asked for again and again.
    std::uint32_t& recent = recent_[(what ^ location * 61) % kRecent];
    if (recent < keys_.size() && keys_[recent] == key) return recent;
    return recent = look_up(key);
  }
  std::size_t size() const { return keys_.size(); }
  LocationIndex location(std::size_t number) const {
    return static_cast<LocationIndex>(keys_[number] >> 32);
  }
  std::uint32_t what(std::size_t number) const { return static_cast<std::uint32_t>(keys_[number]); }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kRecent = 1024;

  std::uint32_t look_up(std::uint64_t key) {
    std::size_t slot = first_slot(key);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      if (keys_[slots_[slot]] == key) return slots_[slot];
    }
    const auto number = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    slots_[slot] = number;
    if (2 * keys_.size() > slots_.size()) grow();
    return number;
  }
  std::size_t first_slot(std::uint64_t key) const {
    const std::uint64_t h = (key ^ key >> 31) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(h >> 32) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kFree);
    for (std::uint32_t n = 0; n < keys_.size(); ++n) {
      std::size_t slot = first_slot(keys_[n]);
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = n;
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> recent_ = std::vector<std::uint32_t>(kRecent, kFree);
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(256, kFree);
};

}  // namespace kojak::expert
