// Reads from a trace what a page shows of it, in memory that has a limit.
//
// There is one forward pass, that of the analysis, which a TimelineReader watches:
//   TimelineReader reader(limits);
//   auto trace = earl::Trace::open(path);
//   const Report report = analyse(*trace, {.watcher = &reader.watch(*trace)});
//   TraceContent content = reader.finish();
// What exceeds a limit is made fewer as it comes: short calls and waits merge, the shortest epochs
// and every second arrow are left out; thin.h says so. Errors are those of opening a trace; a
// damaged trace is shown up to its damage. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "earl/trace.h"
#include "expert/page/trace_content.h"
#include "expert/waits/stream.h"

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
// For a page that is made beside a report, at the cost of little time and memory: some 300,000
// calls.
TraceLimits quick_limits();

class TimelineReader {
 public:
  explicit TimelineReader(const TraceLimits& limits);
  ~TimelineReader();
  TimelineReader(const TimelineReader&) = delete;
  TimelineReader& operator=(const TimelineReader&) = delete;

  // Both must stay where they are until finish().
  expert::ReplayWatcher& watch(earl::Trace& trace);
  TraceContent finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kojak::html
