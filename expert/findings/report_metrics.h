// The metrics that a trace's report shows, and what is said beside them.
#pragma once

#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/model/lock_order.h"
#include "expert/patterns/rma/passive/wait_claims.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// The metrics that a report of such a trace can have: the tree without the branches that the trace
// has no regions for, and a root for each counter.
std::vector<ReportMetric> metrics_of(const Definitions& definitions);

// Adds how sure the claims of Wait for Progress are, and how the order of lock holders was found.
void add_wait_remarks(const ProgressSureness& sureness, const model::LockDecisions& order,
                      const Definitions& definitions, std::vector<ReportMetric>& metrics);

}  // namespace kojak::expert
