// What a page of a report shows beyond it when the report's trace is given: timeline, byte matrix
// and the most severe instances of each pattern.
//
// Reads the trace four times: transfers, state, and the analysis twice. Fails as opening a trace
// does, and if the trace is of another run than the report (exit code 2). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "expert/cube/model.h"
#include "expert/html/page.h"

namespace kojak::html {

struct TracePart {
  PackedTrace packed;
  std::vector<Instance> instances;
  std::vector<std::string> callers;  // see PageOptions
  std::optional<Error> damage;       // of the trace: shown is what stands before it
};

// `max_bytes` is the page's budget; the trace takes at most two thirds of it.
Result<TracePart> read_trace_part(const std::string& path, const cube::Report& report,
                                  std::size_t max_bytes,
                                  const std::function<void(std::uint64_t events)>& progress = {});

}  // namespace kojak::html
