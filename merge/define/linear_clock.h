// Corrections of local clocks: one linear map from a trace's recorded times to the common time.
//
// The map goes through the first and the last measured offset of the trace's node: t + (o1-o0)/
// (l1-l0) * (t-l0) + o0; with one offset, or two at the same time, it is a shift. A trace without
// offsets takes those of another trace of its node; so does one that has only the first of them,
// because a node has one clock. Where the measurement found the true length of its second only at
// the end (CLOCK_RATE), recorded times and offsets mean true ones. Pure functions, no failure.
// Source: docs/merge.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::merge {

// corrected = factor * recorded + shift, counted from the merged trace's first event
struct LinearClock {
  double factor = 1;
  double shift = 0;
  double base = 0;  // taken off last, so that the first event is at 0 exactly
  double operator()(double recorded) const { return factor * recorded + shift - base; }
};

// What one trace tells about its clock.
struct ClockRecord {
  std::vector<OffsetDef> offsets;
  std::optional<ClockRate> rate;
  std::uint32_t node = 0;  // merged node
  std::uint32_t rank = 0;
};

// The maps of all traces, in the same order. `without` counts traces for which no offset is known.
std::vector<LinearClock> linear_clocks(const std::vector<ClockRecord>& traces,
                                       std::uint64_t& without);

}  // namespace kojak::merge
