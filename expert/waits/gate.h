// Which calls are a slice's own, where an analysis sees a part of a run and more than that: of each
// location those that it leaves behind its exit from one meeting, up to its exit from the next,
// that of the next included. What stands before and behind is followed, and not added up.
//
// By event numbers of the slice's trace. Without a gate all calls are own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kojak::expert {

struct Gate {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  struct Location {
    std::uint64_t first = 0, last = kEnd;
  };
  std::vector<Location> locations;  // by index

  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  // What stands at no location is own as the latest of them has it.
  bool own(std::uint32_t location, std::uint64_t pos) const {
    if (location < locations.size()) [[likely]]
      return locations[location].first <= pos && pos <= locations[location].last;
    Location latest{0, 0};
    for (const Location& l : locations) {
      latest.first = std::max(latest.first, l.first);
      latest.last = std::max(latest.last, l.last);
    }
    return latest.first <= pos && pos <= latest.last;
  }
};

}  // namespace kojak::expert
