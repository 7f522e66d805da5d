// The report's metrics about root causes: delay costs by the pattern that waited, what is not
// explained, the critical path and its imbalance.
//
// Costs stand at the process and the call path that are to blame. A stretch of computing that is a
// cause with times becomes a call path of its own, below the function that computes, and takes its
// time from it. Nothing fails; not thread-safe. Source: the names are those of Scalasca's metrics,
// where it has them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/report.h"
#include "expert/severity.h"

namespace kojak::expert {

// What they are added to: a report's parts, before it is made of them.
struct ReportParts {
  const Definitions& definitions;
  SeverityStore& severities;
  std::vector<ReportMetric>& metrics;
  std::vector<CallPath>& call_paths;
  std::map<RegionId, std::string>& stretches;  // names, under numbers that no region has
};

// Also notes the places of causes.
void add_cause_metrics(RootCauses& causes, const ReportParts& parts);

}  // namespace kojak::expert
