// What is wrong with a trace as a file, as far as it has been read.
//
// Pure function; nothing fails; any thread that may read the trace.
#pragma once

#include <vector>

#include "earl/trace.h"
#include "epilog/format/check/trace_gaps.h"

namespace kojak::earl {

std::vector<TraceGap> gaps_of(const Trace& trace);

}  // namespace kojak::earl
