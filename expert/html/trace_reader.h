// Reads from a trace what a page shows of it, in memory that has a limit.
//
// Two forward passes: one over the plain events for the transfers' ends, and the analysis' own,
// which a TimelineReader watches for calls, epochs, messages and fences:
//   auto reader = TimelineReader::begin(path, {}, {});
//   auto trace = earl::Trace::open(path);
//   const Report report = analyse(*trace, {.watcher = &reader->watch(*trace)});
//   TraceContent content = reader->finish();
// What exceeds a limit is made fewer as it comes: short calls and waits merge, the shortest epochs
// and every second arrow are left out; thin.h says so. Errors are those of opening a trace; a
// damaged trace is shown up to its damage. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "epilog/format/error.h"
#include "expert/analysis.h"
#include "expert/html/trace_content.h"

namespace kojak::html {

struct TraceLimits {
  std::size_t boxes = 1'500'000;
  std::size_t waits = 800'000;
  std::size_t arrows = 300'000;  // messages, and as many transfers
  std::size_t bands = 300'000;
  std::size_t stripes = 200'000;  // times without a processor
  std::size_t cells = 4'000'000;  // of the density
  std::size_t pairs = 200'000;    // of processes, in the byte matrix
  std::size_t fence_members = 300'000;
};
// What may fill a page of that size, each part alone: together they are made to fit at the end.
TraceLimits limits_for(std::size_t max_bytes);

class TimelineReader {
 public:
  // The first pass, over all events of a trace.
  static TimelineReader begin(earl::Trace& trace, const TraceLimits& limits,
                              const std::function<void(std::uint64_t events)>& progress);
  static Result<TimelineReader> begin(const std::string& path, const TraceLimits& limits,
                                      const std::function<void(std::uint64_t events)>& progress);
  ~TimelineReader();
  TimelineReader(TimelineReader&&) noexcept;
  TimelineReader& operator=(TimelineReader&&) noexcept;

  // Of the same trace, opened again; both must stay where they are until finish().
  expert::ReplayWatcher& watch(earl::Trace& trace);
  TraceContent finish();

 private:
  struct State;
  explicit TimelineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Both passes, without what the analysis finds.
Result<TraceContent> read_trace(const std::string& path, const TraceLimits& limits,
                                const std::function<void(std::uint64_t events)>& progress = {});

}  // namespace kojak::html
