// Whether a place in the code where a process polls is an event loop: asked for whatever comes, it
// goes on afterwards. Of a loop whose rounds are all alike (class even) that decides whether it
// waits.
//
// Whole numbers, pure. Why these bounds: docs/format.md, "Polls".
#pragma once

#include <algorithm>
#include <cstdint>

#include "epilog/format/field_values.h"

namespace kojak {

// What is known of a place, over all series and finds there.
struct PollSite {
  std::uint64_t finds = 0;                // waited for or not
  std::uint64_t least = raw(kUnknown64);  // shortest rest of a round, in nanoseconds, rounded up

  void add(const PollSite& other) {
    finds += std::min(other.finds, ~finds);
    least = std::min(least, other.least);
  }
};

inline constexpr std::uint64_t kEventLoopFinds = 10;

// `least`: the shortest rest of the series, in nanoseconds.
constexpr bool event_loop_waits(const PollSite& site, std::uint64_t least) {
  return site.finds >= kEventLoopFinds && site.least != raw(kUnknown64) &&
         least <= site.least + site.least / 4;
}

}  // namespace kojak
