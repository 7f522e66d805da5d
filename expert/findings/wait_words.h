// Instances and partners in the words that the terminal, the JSON and the page share.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/findings/object_words.h"
#include "expert/profile/report.h"
#include "expert/sums/send_modes.h"

namespace kojak::expert {

// "MPI_Win_post at halo.c:39", "MPI_Barrier in GA_Sync at scf.c:9" of a call that comes out of a
// communication library, or without the place where it is unknown. Names of the program are
// as it gave them.
std::string call_name(const Report& report, CallPathIndex call_path);
// "rank 1 enters MPI_Win_post at halo.c:39"
std::string ending(const Report& report, LocationIndex location, CallPathIndex call_path,
                   bool at_exit);

// For whom an instance's listed waiters waited, the most waited for first.
std::vector<Partner> partners_of(const Instance& instance);
// Of all waits of a pattern at one call path; empty if nobody is known.
const std::vector<Partner>& partners_of(const Report& report, MetricIndex metric,
                                        CallPathIndex call_path);
// The same at one place of the report, which may be several call paths.
std::vector<Partner> partners_of(const Report& report, MetricIndex metric, const CallPathNode& at);

// How much of a whole, before "in ..." or "until ...": "all of it", "most of it, 72 %,", "the
// largest part, 16 %,".
std::string largest_part(double part, double whole);

// What the findings by send mode say: what moving a message takes, and an instance of a finding:
// "worst: 0.300 s at 1.200000, rank 1; hidden if issued 2.5 us before the Wait".
std::string cost_words(const SendCost::Fit& fit, bool same_node);
std::string worst_words(const Report& report, const SendModeFinding& finding);

}  // namespace kojak::expert
