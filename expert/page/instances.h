// The most severe instances of each pattern, and whom calls waited for, as a page lists them.
//
// Both come from an analysis of the report's trace: instances are operations, partners are what the
// patterns knew when they computed the waiting. Places are the report's. Nothing fails; any thread.
#pragma once

#include "expert/page/page.h"
#include "expert/profile/report.h"

namespace kojak::html {

// Adds them, where the processes stood, calls that failed, causes and critical path. Times are the
// trace's own.
void add_instances(const expert::Report& analysis, TracePart& part);

}  // namespace kojak::html
