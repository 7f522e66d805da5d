// How much of what a counter of processor time counted fell to waiting: spinning in calls.
//
// Counters are read when a call begins and when it ends, not where its waiting ends. So this is an
// estimate: at each call path and location that part of the counter which the waiting is of the
// time. Nothing fails.
#pragma once

#include <vector>

#include "expert/metrics/selection.h"
#include "expert/sums/severity.h"

namespace kojak::expert {

// A metric below each such counter of the trace.
void add_waiting_counters(SeverityStore& severities, std::vector<ReportMetric>& metrics,
                          std::size_t call_paths);

}  // namespace kojak::expert
