// Reads from a trace what a page shows of it, in memory that has a limit.
//
// Two forward passes: one over the plain events for the transfers' ends, one with EARL's state for
// calls, epochs, messages and fences. What exceeds a limit is made fewer as it comes: short calls
// merge, every second arrow is left out; TraceContent::omitted says so. Errors are those of opening
// a trace; a damaged trace is shown up to its damage. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "epilog/format/error.h"
#include "expert/html/trace_content.h"

namespace kojak::html {

class CauseFinder;

struct TraceLimits {
  std::size_t boxes = 1'500'000;
  std::size_t arrows = 300'000;  // messages, and as many transfers
  std::size_t bands = 300'000;
  std::size_t pairs = 200'000;  // of processes, in the byte matrix
  std::size_t fence_members = 300'000;
};

// `causes`, if given, is handed what it asks for on the way.
Result<TraceContent> read_trace(const std::string& path, const TraceLimits& limits,
                                const std::function<void(std::uint64_t events)>& progress = {},
                                CauseFinder* causes = nullptr);

}  // namespace kojak::html
