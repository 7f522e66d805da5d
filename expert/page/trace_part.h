// What a page of a report shows beyond it when the report's trace is given: timeline, byte matrix,
// the most severe instances of each pattern, and whom calls waited for.
//
// Who analyses a trace watches it with a TimelineReader (trace_reader.h) and calls trace_part. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/error.h"
#include "expert/page/page.h"
#include "expert/page/trace_reader.h"
#include "expert/profile/model.h"

namespace kojak::html {

struct TracePart {
  PackedTrace packed;
  std::vector<Instance> instances;
  std::vector<WaitedFor> partners;
  std::vector<std::string> callers;  // see PageOptions
  std::vector<LastCall> last_calls;  // likewise
  std::vector<std::string> deadlocks;
  std::vector<FailedCallLine> failed_calls;
  std::vector<CauseLine> causes;
  std::size_t further_causes = 0;
  double waits = 0;
  std::vector<PathPart> path;
  std::vector<std::filesystem::path> compiled_in;
  std::optional<Error> damage;  // of the trace: shown is what stands before it
  std::vector<TraceGap> gaps;   // what else is wrong with it

  // The page with it; this must outlive the options.
  void add_to(PageOptions& options) const {
    options.trace = &packed;
    options.instances = instances;
    options.partners = partners;
    options.callers = callers;
    options.last_calls = last_calls;
    options.deadlocks = deadlocks;
    options.failed_calls = failed_calls;
    options.causes = causes;
    options.further_causes = further_causes;
    options.waits = waits;
    options.path = path;
    options.compiled_in = compiled_in;
  }
};

// `max_bytes` is the page's budget; the trace takes at most two thirds of it.
TracePart trace_part(const expert::Report& analysis, TraceContent content,
                     const cube::Report& report, std::size_t max_bytes);

}  // namespace kojak::html
