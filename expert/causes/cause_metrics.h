// The report's metrics about root causes: delay costs by the pattern that waited, what is not
// explained, the critical path and its imbalance, gains of groups.
//
// Costs stand at the process and the call path that are to blame. A stretch of computing that is a
// cause with times becomes a call path of its own, below the region that encloses it, and takes its
// time from it. Source: the names are those of Scalasca's metrics, where it has them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/metrics/selection.h"
#include "expert/sums/severity.h"

namespace kojak::expert {

// The roots of their trees.
inline constexpr std::string_view kDelayMetric = "delay";
inline constexpr std::string_view kDirectWaitsMetric = "mpi_wait_direct";
inline constexpr std::string_view kIndirectWaitsMetric = "mpi_wait_indirect";
inline constexpr std::string_view kCriticalPathMetric = "critical_path";
inline constexpr std::string_view kPathImbalanceMetric = "critical_path_imbalance";
inline constexpr std::string_view kGainMetric = "gain";

// Whether a root's tree is about causes: at those that are to blame for waits, or once more at the
// waits, no waiting beside that of the patterns.
constexpr bool is_of_causes(std::string_view root) {
  return root == kDelayMetric || root == kDirectWaitsMetric || root == kIndirectWaitsMetric ||
         root == kCriticalPathMetric || root == kPathImbalanceMetric || root == kGainMetric;
}

// What they are added to: a report's parts, before it is made of them.
struct ReportParts {
  const Definitions& definitions;
  SeverityStore& severities;
  std::vector<ReportMetric>& metrics;
  std::vector<CallPath>& call_paths;
  std::map<RegionId, std::string>& stretches;  // names, under numbers that no region has
  bool ended = false;                          // the run was ended: nobody knows what it would take
};

// Also notes the places of causes.
void add_cause_metrics(RootCauses& causes, const ReportParts& parts);

}  // namespace kojak::expert
