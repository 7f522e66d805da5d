// The longest wait of each pattern at each call path, so that every finding has an instance to look
// at: the worst ones of a pattern may all be at one place.
//
// Memory: one instance for each pattern and call path that waited. Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "expert/worst_instances.h"

namespace kojak::html {

class WorstPlaces {
 public:
  static std::uint64_t key(const expert::PatternInstance& instance) {
    return static_cast<std::uint64_t>(instance.metric) << 32 | instance.call_path;
  }

  void add(const expert::PatternInstance& instance) {
    const auto [entry, added] = worst_.try_emplace(key(instance), instance);
    if (!added && entry->second.waiting < instance.waiting) entry->second = instance;
  }

  // Of the places with the longest waits at most `limit`, the longest first; of equal ones the
  // earlier.
  std::vector<expert::PatternInstance> sorted(std::size_t limit) const {
    std::vector<expert::PatternInstance> all;
    for (const auto& [place, instance] : worst_) all.push_back(instance);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      if (a.waiting != b.waiting) return a.waiting > b.waiting;
      return a.enter != b.enter ? a.enter < b.enter : key(a) < key(b);
    });
    if (all.size() > limit) all.resize(limit);
    return all;
  }

 private:
  std::unordered_map<std::uint64_t, expert::PatternInstance> worst_;
};

}  // namespace kojak::html
