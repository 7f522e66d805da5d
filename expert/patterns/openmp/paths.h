// OpenMP: which call paths of a team's threads are one place in the program.
//
// The master comes to a parallel region from the function that has it, the others from the top of
// their threads: what they do there stands in different call paths. Told of regions as they are
// entered and left. Memory: call paths within parallel regions, and open regions.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "earl/call.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

class OmpPaths {
 public:
  explicit OmpPaths(std::size_t locations) : open_(locations) {}

  // The first call path that is the same from its outermost parallel region on: the call's own
  // outside of parallel regions, and where it is the first.
  CallPathIndex on_enter(const earl::OpenCall& call, bool parallel) {
    std::vector<CallPathIndex>& open = open_[call.index];
    const CallPathIndex around = open.empty() ? kOutside : open.back();
    if (around == kOutside && !parallel) {
      open.push_back(kOutside);
      return raw(call.cnode);
    }
    const auto [first, added] =
        first_.try_emplace({around, raw(call.region), raw(call.csite)}, raw(call.cnode));
    open.push_back(first->second);
    return first->second;
  }
  void on_exit(const earl::OpenCall& call) {
    if (!open_[call.index].empty()) open_[call.index].pop_back();
  }

 private:
  static constexpr CallPathIndex kOutside = ~CallPathIndex{0};

  std::map<std::tuple<CallPathIndex, std::uint32_t, std::uint32_t>, CallPathIndex> first_;
  std::vector<std::vector<CallPathIndex>> open_;  // by location: of its open regions
};

}  // namespace kojak::expert
