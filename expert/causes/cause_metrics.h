// The report's metrics about root causes: delay costs by the pattern that waited, what is not
// explained, the critical path and its imbalance.
//
// Costs stand at the process and the call path that are to blame; a stretch of computing at the
// function that computes. Nothing fails; not thread-safe. Source: the names are those of Scalasca's
// metrics, where it has them.
#pragma once

#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/report.h"
#include "expert/severity.h"

namespace kojak::expert {

// Where the cost of a stretch stands in the call tree.
CallPathIndex place_of(const Stretch& stretch);

void add_cause_metrics(const RootCauses& causes, SeverityStore& severities,
                       std::vector<ReportMetric>& metrics);

}  // namespace kojak::expert
