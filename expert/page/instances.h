// The most severe instances of each pattern, and whom calls waited for, as a page lists them.
//
// Both come from an analysis of the report's trace: instances are operations, partners are what the
// patterns knew when they computed the waiting. Places are the report's, found by their names where
// it is not the analysis' own. Nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/page/page.h"
#include "expert/profile/model.h"
#include "expert/profile/report.h"

namespace kojak::html {

struct Instances {
  std::vector<Instance> instances;  // times are the trace's own
  std::vector<WaitedFor> partners;
  std::vector<std::string> callers;  // see PageOptions
  std::vector<LastCall> last_calls;  // likewise
  std::vector<FailedCallLine> failed_calls;
  std::vector<CauseLine> causes;  // likewise; times of chains and path are the trace's own
  std::vector<PathPart> path;     // likewise
  // Of each call path of the analysis its place in the report, kNone where it has none.
  std::vector<std::size_t> nodes;
};

Instances instances_of(const expert::Report& analysis, const cube::Report& report);

}  // namespace kojak::html
