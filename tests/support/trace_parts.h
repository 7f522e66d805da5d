// A merged trace taken apart by windows, with the ends of transfers elsewhere, and with events of
// the same time in another order.
//
// Traces come and go as bytes in memory. A trace that cannot be decoded throws std::runtime_error.
// No state.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/trace_changes.h"

namespace kojak::support {

// The windows that calls of the trace worked on, in ascending order.
std::vector<std::uint32_t> windows_used(const TraceBytes& trace);

// What is left of a trace if only one window is of interest. Records of other windows are gone; the
// calls that worked on these only stand there as MPI_Iprobe (MPI_Comm_rank, if they could make no
// progress), so that everybody is inside MPI when they were. Waits of requests keep their names:
// what they completed on other windows is gone.
TraceBytes only_window(const TraceBytes& trace, std::uint32_t window);
// Whether windows lie over one memory, so that what is written through one is read through another.
bool windows_share_memory(const TraceBytes& trace);
// Whether some call waited for operations on several windows: it waits once, but is in several
// parts.
bool windows_meet(const TraceBytes& trace);

// The ends of transfers, with their marks and lengths, at the exit of the call that issued them:
// what the basic model would have, but for the marks.
TraceBytes with_ends_put_back(const TraceBytes& trace);
// Whether transfers are marked at all; whether any for ending before it started.
bool has_marks(const TraceBytes& trace);
bool has_clock_violations(const TraceBytes& trace);
// Whether it has values that polls found.
bool has_values(const TraceBytes& trace);

// Events of the same time in another order, chosen by the seed. The events of one location keep
// theirs, as do those that concern each other: an event that names another process and the events
// of that process. Nothing overtakes the times at which a process stops to record (from then on its
// open epochs take part in nothing) and at which it enters an unlock call (who held a lock before
// is open if one unlocks and another proves that it holds the lock at the very same time). `moved`
// counts the events that another location's event has overtaken.
struct Reordered {
  TraceBytes trace;
  std::uint64_t moved = 0;
};
Reordered with_ties_reordered(const TraceBytes& trace, std::uint64_t seed);

}  // namespace kojak::support
