// Groups of root causes in words: who they are, what they do and where, whom they make wait.
//
// Of two groups with equal words each says what tells it from the other. Pure functions on a
// report; nothing fails; any thread. Names of the program are as it gave them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

// How what a group took longer outside of calls was spent: of all its causes, where most of it is
// known.
std::optional<Spending> spending_of(const Report& report, const CauseGroup& group);
// What is said of it: what it did most. Without such readings that it computed is known where
// samples say so.
Spent spent_by(const Report& report, const CauseGroup& group);
// Of what it took longer: so much without a processor, at least; exactly where spending_of() knows.
double without_processor_of(const Report& report, const CauseGroup& group);

// By how much the latest of it was later.
double latest_of(const Report& report, const CauseGroup& group);

// "stencil()"; empty if no function is known.
std::string function_words(const Report& report, RegionId function);
// "halo.c:33", "contended.c:12-14", "excerpt.c:23 round to 19"; empty if nobody knows.
std::string lines_of(const Report& report, const CauseGroup& group);
// "stencil() at halo.c:33"; without a function "what it does after MPI_Barrier() at x.c:3".
std::string where_of(const Report& report, const CauseGroup& group);
// The same for a column: "stencil() halo.c:33", "MPI_Win_complete() halo.c:57 itself".
std::string what_column(const Report& report, const CauseGroup& group);
// Of one that serves: "rank 2, which serves, was answering rank 0"; of several answered "others".
std::string answering_words(const Report& report, const CauseGroup& group);
std::string answered_words(const Report& report, const CauseGroup& group);
// "MPI_Win_fence() at halo.c:39"
std::string call_words(const Report& report, CallPathIndex call);
// "from assemble()", with the line of the call: "from assemble() two_loops.c:20"; empty without.
std::string from_words(const Report& report, const CauseGroup& group, bool with_line);

// "1 rank", "8 threads" (of UPC).
std::string counted_processes(const Report& report, std::size_t count);
// "rank 5", "ranks 2, 5 and 7", "ranks 0-3 and 9"; of threads that are no process's only one their
// names.
std::string those(const Report& report, std::vector<LocationIndex> locations);
// Who makes wait: of a few these, else "12 ranks", "512 pairs".
std::string who_column(const Report& report, const CauseGroup& group);
// "512 pairs of neighbours", "96 pairs of ranks", "64 groups of 16 ranks"
std::string units_words(const Report& report, const CauseGroup& group);
// Those who wait directly and long enough to be named, those who wait longest first.
std::vector<LocationIndex> victims_of(const CauseGroup& group);
// "the others", "rank 2", "ranks 0 and 3", "12 others"; `named`: false if no names are wanted.
std::string victims_words(const Report& report, const CauseGroup& group, bool named);
// What its gain, or that of several groups at once, is: never more than the run. Nothing where it
// is not known, or the run was ended; `worth`: the run would be shorter by what is worth saying.
struct Gain {
  double seconds = 0;
  bool worth = false;
};
std::optional<Gain> gain_to_say(const Report& report, double run, const std::optional<Ticks>& gain);
// Whether so much of the waiting is nobody's fault that it is said.
bool much_is_not_attributed(const Report& report);
// Where it gains nothing. What is not attributed stays as it is without the cause, too: where it is
// much, a gain may be hidden by it.
const char* no_gain_words(const Report& report);
inline std::string gain_said(const std::string& time) {
  return "without it the run would take " + time + " less";
}

// Null: it has none.
const RootCause* most_costly(const Report& report, const CauseGroup& group);
// The chain of its most costly cause, where most of the cost came through others' waits.
const Chain* chain_of(const Report& report, const CauseGroup& group);

// The pattern that has half of its waiting; its number, or kNoMetric.
inline constexpr MetricIndex kNoMetric = ~MetricIndex{0};
MetricIndex main_pattern(const CauseGroup& group);

}  // namespace kojak::expert
