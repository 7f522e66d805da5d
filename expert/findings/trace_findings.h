// The table of findings of a finished analysis: faults that EARL found in the trace, records that
// the measurement could not keep, and what the patterns counted.
//
// Returns values; nothing fails; not thread-safe while the trace is being read.
#pragma once

#include <array>
#include <vector>

#include "earl/trace.h"
#include "expert/ends/unbegun.h"
#include "expert/patterns/notes.h"
#include "expert/profile/findings.h"

namespace kojak::expert {

// Whether a hardware counter can be added over calls: a rate or a sample cannot.
constexpr bool adds_up(const MetricDef& counter) {
  constexpr std::uint8_t kCounts = 0;
  return counter.mode == kCounts;
}

std::vector<Finding> findings_of(const earl::Trace& trace,
                                 const std::array<std::uint64_t, kNotes>& notes,
                                 const Unbegun& unbegun);

}  // namespace kojak::expert
