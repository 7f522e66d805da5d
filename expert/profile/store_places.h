// Where the analysis's numbers of metrics, call paths and locations stand in a report's lists.
//
// Keeps no references. Nothing fails: things that the report does not show are kNone.
#pragma once

#include <map>

#include "expert/profile/report.h"

namespace kojak::expert {

class StorePlaces {
 public:
  explicit StorePlaces(const Report& report) {
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      const CallPathNode& node = report.call_paths()[c];
      call_paths_[node.index] = c;
      for (const CallPathIndex index : node.also) call_paths_[index] = c;
    }
    for (std::size_t t = 0; t < report.threads(); ++t) threads_[report.thread_column(t)] = t;
    for (std::size_t m = 0; m < report.metrics().size(); ++m) {
      metrics_[report.metrics()[m].own.front()] = m;
    }
  }
  std::size_t call_path(CallPathIndex index) const { return in(call_paths_, index); }
  std::size_t thread(LocationIndex index) const { return in(threads_, index); }
  std::size_t metric(MetricIndex index) const { return in(metrics_, index); }

 private:
  using Places = std::map<std::uint32_t, std::size_t>;
  static std::size_t in(const Places& places, std::uint32_t index) {
    const auto it = places.find(index);
    return it == places.end() ? kNone : it->second;
  }
  Places call_paths_, threads_, metrics_;
};

}  // namespace kojak::expert
