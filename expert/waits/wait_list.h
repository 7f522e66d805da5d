// Every wait that an analysis counts, in the order in which it was told: for who looks at the rows
// themselves, as tests do. Memory: all of them.
#pragma once

#include <optional>
#include <vector>

#include "expert/waits/wait.h"

namespace kojak::expert {

struct WaitList {
  void on_wait(const Wait& wait) { waits.push_back(wait); }
  // Those of `from` there are waits of `to` in truth, or none.
  void on_moved(CallPathIndex path, LocationIndex location, MetricIndex from,
                std::optional<MetricIndex> to) {
    const auto there = [&](const Wait& w) {
      return w.metric == from && w.call_path == path && w.location == location;
    };
    if (!to) {
      std::erase_if(waits, there);
      return;
    }
    for (Wait& w : waits) {
      if (there(w)) w.metric = *to;
    }
  }
  std::vector<Wait> waits;
};

}  // namespace kojak::expert
