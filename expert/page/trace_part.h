// What a page of a report shows beyond it when the report's trace is given: timeline, byte matrix,
// the most severe instances of each pattern, and whom calls waited for.
//
// Who analyses a trace watches it with a TimelineReader (trace_reader.h) and calls trace_part. Not
// thread-safe.
#pragma once

#include <cstddef>

#include "expert/page/page.h"
#include "expert/page/trace_reader.h"
#include "expert/profile/model.h"
#include "expert/profile/report.h"

namespace kojak::html {

// `max_bytes` is the page's budget; the trace takes at most two thirds of it.
TracePart trace_part(const expert::Report& analysis, TraceContent content,
                     const cube::Report& report, std::size_t max_bytes);

}  // namespace kojak::html
