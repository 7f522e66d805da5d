// The clock of the measurement: one per process, as cheap as the machine offers.
//
// Where the processor's counter has a constant rate and the kernel itself trusts it as clock source
// (so it is synchronised over the cores), a tick is one of its counts, calibrated against
// CLOCK_MONOTONIC; elsewhere a tick is a nanosecond of CLOCK_MONOTONIC. Times of records are
// seconds from a base that the processes of one node share: doubles of that size keep fractions of
// a nanosecond. Set up once by the session before any record is written, constant afterwards;
// reading is safe from any thread. Never fails.
#pragma once

#include <time.h>

#include <cstdint>

#include "epilog/format/compact/state.h"
#include "epilog/runtime/counter.h"

namespace kojak::measure {

using Ticks = std::uint64_t;

struct Clock {
  bool counter = false;  // ticks are its counts
  Ticks base = 0;        // time 0 of this run on this node
  double scale = 1e-9;   // seconds per tick
  double shift = 0;      // tests: moves this process's clock
};
extern Clock the_clock;

inline Ticks monotonic_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Ticks>(now.tv_sec) * 1000000000u + static_cast<Ticks>(now.tv_nsec);
}

inline Ticks ticks() {
  if (kHasCounter && the_clock.counter) [[likely]]
    return read_counter();
  return monotonic_nanoseconds();
}

inline Ticks later(Ticks a, Ticks b) {
  return static_cast<std::int64_t>(a - b) > 0 ? a : b;
}

// These two compute with doubles, so no recorded call may ask (program_floats.h).
inline Seconds to_seconds(Ticks at) {
  return compact::TickClock{the_clock.base, the_clock.scale, the_clock.shift}.seconds(at);
}
inline Ticks ticks_per_second() {
  return static_cast<Ticks>(1 / the_clock.scale);
}

// One moment in both clocks: the tightest of a few readings.
struct ClockPair {
  Ticks ticks = 0;
  Ticks nanoseconds = 0;
};
ClockPair read_both_clocks();

// Decides between the counter and CLOCK_MONOTONIC; call it before the first ticks().
void choose_clock();

// Seconds per tick between two moments; 1e-9 where a tick is a nanosecond.
double calibrate(const ClockPair& first, const ClockPair& second);

}  // namespace kojak::measure
