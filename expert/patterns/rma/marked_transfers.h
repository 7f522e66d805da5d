// Transfers that the merge could not place, in epochs that are still open: patterns leave them
// out.
//
// Marks come in the order of the transfers, so that a run of them is one entry, however many there
// are. An epoch is named by its address until it is delivered.
// Source: docs/merge.md.
#pragma once

#include <algorithm>
#include <vector>

#include "earl/call.h"

namespace kojak::expert {

class MarkedTransfers {
 public:
  void add(const void* epoch, RmaId rmaid) {
    const std::uint32_t id = raw(rmaid);
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      if (run->epoch != epoch) continue;
      if (id >= run->first && id <= run->last) return;
      if (id == run->last + 1) {
        run->last = id;
        return;
      }
      break;
    }
    runs_.push_back({epoch, id, id});
  }
  // Whether the call issued one of them.
  bool any(const void* epoch, const earl::Call& call) const {
    if (runs_.empty() || is_absent(call.rmaid)) return false;
    const std::uint32_t first = raw(call.rmaid);
    // An atomic operation is a get and the put after it.
    const std::uint32_t last = first + (call.role() == MpiRole::kGetAccumulate ? 1 : 0);
    return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
      return run.epoch == epoch && run.first <= last && first <= run.last;
    });
  }
  void forget(const void* epoch) {
    if (runs_.empty()) return;
    std::erase_if(runs_, [&](const Run& run) { return run.epoch == epoch; });
  }

 private:
  struct Run {
    const void* epoch;
    std::uint32_t first, last;
  };
  std::vector<Run> runs_;
};

}  // namespace kojak::expert
