// The most severe instances of each pattern, for people who want to look at one on a timeline.
//
// An instance is a call that waited: its time window, location and call path, and how long it
// waited. Keeps a fixed number per metric, so memory does not grow with the trace; a call that is
// not among the worst costs a comparison. Filled through AnalysisOptions::instance. Not
// thread-safe. Source: the pattern spec, "Instances".
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "epilog/format/types.h"
#include "expert/severity.h"

namespace kojak::expert {

struct PatternInstance {
  MetricIndex metric = 0;
  CallPathIndex call_path = 0;
  LocationIndex location = 0;
  Seconds waiting;
  Seconds enter, exit;  // of the call
};

class WorstInstances {
 public:
  explicit WorstInstances(std::size_t per_metric = 10) : limit_(per_metric) {}

  void add(const PatternInstance& instance) {
    if (instance.metric >= worst_.size()) worst_.resize(instance.metric + 1);
    std::vector<PatternInstance>& kept = worst_[instance.metric];
    if (kept.size() == limit_) {
      if (kept.empty() || !(instance.waiting > kept.front().waiting)) [[likely]]
        return;
      std::pop_heap(kept.begin(), kept.end(), longer);
      kept.pop_back();
    }
    kept.push_back(instance);
    std::push_heap(kept.begin(), kept.end(), longer);
  }

  // By metric, the longest wait first; of equal ones the earlier.
  std::vector<PatternInstance> sorted() const {
    std::vector<PatternInstance> all;
    for (const auto& kept : worst_) all.insert(all.end(), kept.begin(), kept.end());
    std::sort(all.begin(), all.end(), [](const PatternInstance& a, const PatternInstance& b) {
      if (a.metric != b.metric) return a.metric < b.metric;
      if (a.waiting != b.waiting) return a.waiting > b.waiting;
      return a.enter != b.enter ? a.enter < b.enter : a.location < b.location;
    });
    return all;
  }

 private:
  // Makes the heap's front the shortest.
  static bool longer(const PatternInstance& a, const PatternInstance& b) {
    return a.waiting > b.waiting;
  }
  std::size_t limit_;
  std::vector<std::vector<PatternInstance>> worst_;
};

}  // namespace kojak::expert
