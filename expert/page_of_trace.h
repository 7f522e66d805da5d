// What a page shows of a trace, made by an analysis of its own. Fails as opening a trace does, and
// if the trace is of another run than the report (exit code 2). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "expert/page/trace_part.h"

namespace kojak::html {

// Beside the report of the same run. `max_bytes`: of the page.
Result<TracePart> read_trace_part(const std::string& path, const cube::Report& report,
                                  std::size_t max_bytes,
                                  const std::function<void(std::uint64_t events)>& progress = {});

}  // namespace kojak::html
