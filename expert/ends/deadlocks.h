// What kept a run from going on that was ended before its processes were: a deadlock, or a process
// that the others wait for.
//
// A process can go on if it computes, stands in a call of which nobody is known to be missing, or
// needs no more than that the MPI library of another makes progress, or a lock that another only
// asked for. Whoever waits for such a one goes on, too (for several: for all of them; where one is
// enough, for one). Of the rest, those that wait for each other in a circle are a deadlock, if each
// has stood in its call for kStood: a run does not end everywhere at one time. A process that ended
// long before the others never goes on, and is no part of one.
#pragma once

#include <cstdint>
#include <set>

#include "epilog/format/definitions.h"
#include "expert/ends/last_calls.h"

namespace kojak::expert {

inline constexpr double kStood = 0.1;        // seconds
inline constexpr double kEndedBefore = 1.0;  // likewise: longer is long before the others

// Fills in the calls' states and the deadlocks. `traced`: the processes of which there is a trace.
void judge_last_calls(LastCalls& last, const Definitions& definitions,
                      const std::set<std::uint32_t>& traced);

}  // namespace kojak::expert
