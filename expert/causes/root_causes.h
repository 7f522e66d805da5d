// What is known of who made the others wait: the results of CauseFinder, and the report's metrics
// made of them.
//
// Plain values; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/causes/stretches.h"
#include "expert/severity.h"

namespace kojak::expert {

// Waiting of one pattern that a cause made.
struct CostOfPattern {
  MetricIndex metric = 0;
  double short_term = 0;  // seconds that others waited for it directly
  double long_term = 0;   // seconds of those who waited for those, and so on
};

struct RootCause {
  LocationIndex location = 0;
  Stretch stretch;
  double seconds = 0;    // all of it
  double longer = 0;     // by how much it took longer than at those who waited, or how long it took
  bool compared = true;  // false: nothing was compared, `longer` is the time of the waiting itself
  std::vector<CostOfPattern> patterns;  // the most costly first
};

struct PathShare {
  LocationIndex location = 0;
  Stretch stretch;
  double seconds = 0;    // on the critical path
  double imbalance = 0;  // by how much more than what the processes do of it on the average
};

// Waiting at a call of which no cause is known.
struct UnexplainedWait {
  LocationIndex location = 0;
  CallPathIndex call_path = 0;
  double seconds = 0;
};

struct RootCauses {
  std::vector<RootCause> causes;                // the most costly first
  std::vector<PathShare> critical_path;         // the longest share first
  std::vector<UnexplainedWait> unexplained_at;  // waits below the threshold apart
  double waits = 0;                             // seconds of all waits: costs and the following
  double unexplained = 0;
  double path_length = 0;  // of the critical path: until the end of the process that ends last
};

}  // namespace kojak::expert
