// A chain from a wait to its cause in words, a step after the other: who waits, in which call, and
// until whom does what; at the end what the one awaited does.
//
// Pure functions on a report; nothing fails; any thread. Names of the program are as it gave them.
#pragma once

#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct StepWords {
  std::string lead;  // "rank 3 waits 0.21 s"
  std::string rest;  // "in MPI_Win_free() at halo.c:110, until rank 0 comes"
};

// What the one awaited does that ends a wait of a pattern: "sends", "gives the lock back", "comes".
std::string ends_wait_by(const Report& report, MetricIndex metric);

// It is one of the patterns in which a process waits until another one calls the library.
bool waits_for_progress(MetricIndex metric);
// Of each link, then of the end if that is known. `group`: the cause at the end is in it; it knows
// the function.
std::vector<StepWords> step_words(const Report& report, const Chain& chain,
                                  const CauseGroup& group);

}  // namespace kojak::expert
