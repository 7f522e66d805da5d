// What a page shows of a trace, made by an analysis of its own. Fails as opening a trace does, and
// if the trace is of another run than the report (exit code 2). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "expert/page/trace_part.h"

namespace kojak::html {

struct PageOfTrace {
  cube::Report report;  // the analysis'
  TracePart part;       // what the trace adds to it
};

// For `report`, of the same run: it says what the page is called, and whether it is about causes.
// `max_bytes`: of the page.
Result<PageOfTrace> read_page_of_trace(
    const std::string& path, const cube::Report& report, std::size_t max_bytes,
    const std::function<void(std::uint64_t events)>& progress = {});

}  // namespace kojak::html
