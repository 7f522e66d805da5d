// Root causes in words, for the terminal.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>

#include "expert/findings/statement.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// "relax, between MPI_Win_fence at halo.c:39 and MPI_Win_fence at halo.c:44"; a call's name and
// place for time in a call. Names of the program are as it gave them. The function is one that is
// known to compute: a region of the trace, or `main`. Where only call sites tell of functions, it
// says in which ones the calls are: "between ... at halo.c:44 and ... at halo.c:39 (both in swap)".
std::string stretch_name(const Report& report, const Stretch& stretch);
// "rank 1 computes 0.110 s longer in relax, between halo.c:39 and halo.c:44"; of samples comes the
// function as well.
std::string cause_words(const Report& report, const RootCause& cause);
// Where these words do not say which function computes: how to learn that; else empty.
std::string function_advice(const Report& report, const RootCause& cause);
// "the others wait 2.400 s for it on window 0 created at halo.c:12 (Wait at Fence 1.600 s, Late
// Post 0.800 s)", and if that is known "; without it the run would take 0.900 s less" and "; rank 1
// had no processor for 40 % of its time"
std::string effect_words(const Report& report, const RootCause& cause);
// "Wait at Fence 1.600 s, Late Post 0.800 s; behind them 0.500 s": those who wait for it directly,
// by pattern, and those who wait for them.
std::string pattern_words(const RootCause& cause);
// "rank 5 waits for 4, 4 for 3, ... 2 more ..., 1 for 0, all in MPI_Recv at ring.c:7; 0 computes";
// empty for a chain of less than two waits, which says nothing new.
std::string chain_words(const Report& report, const Chain& chain);

// What the last one awaited does between calls: "computes", "is blocked (sleeps)", "has no
// processor", "is outside of MPI".
std::string does_at_end(const Report& report, const Chain& chain);

// Both: what it is, and what it makes the others wait.
Statement cause_statement(const Report& report, const RootCause& cause);
// What of all causes is worth a sentence: those that cost enough, of the waiting or of the run, at
// most ten.
std::vector<const RootCause*> listed_causes(const RootCauses& causes);
// A share of the critical path: what is done there.
std::string share_words(const Report& report, const PathShare& share);

}  // namespace kojak::expert
