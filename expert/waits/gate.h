// Which calls are a slice's own, where an analysis sees a part of a run and more than that: of each
// location those that it leaves behind its exit from one meeting, up to its exit from the next,
// that of the next included. What stands before and behind is followed, and not added up.
//
// By event numbers of the slice's trace. Without a gate all calls are own. Who makes that trace
// sets them, maybe in another thread, before it gives the event that they name.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

namespace kojak::expert {

struct Gate {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  // (What is read before it is set is as good: no event is near yet.)
  class Number {
   public:
    Number(std::uint64_t n) : n_(n) {}  // NOLINT: as a number
    Number(const Number& other) : n_(other) {}
    Number& operator=(const Number& other) { return *this = std::uint64_t{other}; }
    Number& operator=(std::uint64_t n) {
      n_.store(n, std::memory_order_relaxed);
      return *this;
    }
    operator std::uint64_t() const { return n_.load(std::memory_order_relaxed); }  // NOLINT

   private:
    std::atomic<std::uint64_t> n_;
  };
  struct Location {
    Number first = 0, last = kEnd;
  };
  std::vector<Location> locations;  // by index

  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  // What stands at no location is own as the latest of them has it.
  bool own(std::uint32_t location, std::uint64_t pos) const {
    if (location < locations.size()) [[likely]]
      return locations[location].first <= pos && pos <= locations[location].last;
    std::uint64_t first = 0, last = 0;
    for (const Location& l : locations) {
      first = std::max<std::uint64_t>(first, l.first);
      last = std::max<std::uint64_t>(last, l.last);
    }
    return first <= pos && pos <= last;
  }
};

}  // namespace kojak::expert
