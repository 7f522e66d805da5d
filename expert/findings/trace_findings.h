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
#include "expert/profile/report.h"

namespace kojak::expert {

std::vector<Finding> findings_of(const earl::Trace& trace, const earl::Findings& of_events,
                                 const std::array<std::uint64_t, kNotes>& notes,
                                 const Unbegun& unbegun);

// That waits and operations could be numbered up to that time only.
Finding causes_end_early(double until);
// That there are none, since patterns were left out.
Finding causes_are_left_out();
// What did not fit into the cells of the severities, and what is no number.
void add_limits(const SeverityStore& severities, std::vector<Finding>& findings);

// The suspect rows in short: "2 x receive without send, 1 x collective incomplete".
std::string suspects(const std::vector<Finding>& findings);
bool any_suspect(const std::vector<Finding>& findings);

}  // namespace kojak::expert
