// What is known of who made the others wait: the results of CauseFinder, and the report's metrics
// made of them.
//
// Plain values; nothing fails; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilog/format/blocked.h"
#include "expert/causes/groups.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

// So many waits, operations or dependencies can be numbered: CausePart has 31 bits for each.
inline constexpr std::size_t kMostOfRootCauses = (std::size_t{1} << 31) - 1;

// Waiting of one pattern that a cause made.
struct CostOfPattern {
  MetricIndex metric = 0;
  double short_term = 0;  // seconds that others waited for it directly
  double long_term = 0;   // seconds of those who waited for those, and so on
};

// Waiting at one window or communicator that a cause made.
struct CostOfObject {
  Operation::Object object = Operation::Object::kNothing;
  std::uint32_t id = 0;
  double seconds = 0;
};

// One that waits, in a call, for another. Times are the trace's own.
struct ChainLink {
  LocationIndex waiter = 0;
  LocationIndex awaited = kNoLocation;
  MetricIndex metric = 0;
  CallPathIndex call_path = 0;
  double begin = 0, end = 0;
};

// Who waits for whom, and what the last one awaited does. Each awaits the waiter of the next link.
struct Chain {
  std::vector<ChainLink> links;
  std::size_t left_out = 0;   // links before the first one
  bool explained = false;     // what follows is known
  Stretch stretch;            // what the last one awaited does,
  double begin = 0, end = 0;  // when it did so last before the wait ended

  template <class Archive>
  void visit(Archive& archive) {
    archive(links, left_out, explained, stretch, begin, end);
  }
};

// Samples in the stretch of a cause: how many of its process, and of each of the others that do
// it, on the average.
struct SampledPlace {
  CallSiteId site{};
  double samples = 0, others = 0;
};

// What one of the trace's counters counted in the stretch of a cause: at its process, and at each
// of the others that do it, on the average.
struct CountedThere {
  std::uint32_t counter = 0;  // its place among those of the trace
  double own = 0, others = 0;
  bool compared = false;  // false: nobody else does it
};

// What a process did outside of calls; kOutside: nobody knows more.
enum class Spent : std::uint8_t { kComputing, kBlocked, kNoProcessor, kOutside };

// How a process spent what it took longer outside of calls: seconds, together that.
struct Spending {
  double ran = 0, blocked = 0, no_processor = 0;
  BlockedKind kind = BlockedKind::kNone;  // what blocked it most

  Spent most() const {
    if (ran >= blocked && ran >= no_processor) return Spent::kComputing;
    return blocked >= no_processor ? Spent::kBlocked : Spent::kNoProcessor;
  }
};

struct RootCause {
  LocationIndex location = 0;
  Stretch stretch;
  StretchId id = 0;
  double seconds = 0;    // all of it
  double longer = 0;     // by how much it took longer than at those who waited, or how long it took
  bool compared = true;  // false: nothing was compared, `longer` is the time of the waiting itself
  std::optional<Spending> spent;        // absent: nobody looked, or it was in a call
  std::vector<CostOfPattern> patterns;  // the most costly first
  // Where it computed: by CauseFinder all places, then what name_sampled_functions() leaves.
  std::vector<SampledPlace> sampled;
  std::vector<SampledPlace> lines;    // of these functions all lines, by the file's numbers
  std::vector<CountedThere> counted;  // where the trace has counters, and it computed
  std::vector<CostOfObject> objects;  // likewise, of those who waited for it directly
  // By how many seconds the run would be shorter without it, of the most costly ones.
  std::optional<double> gain;
  CallPathIndex place = 0;  // where it stands in the call tree, as add_cause_metrics says
  // All who wait in it and behind it, of LastCalls; the rest of it says only where that shows.
  std::uint32_t deadlock = ~0u;
  // The way on which most of its cost came to it: none for causes behind the first thousand.
  Chain chain;
};

struct PathShare {
  LocationIndex location = 0;
  Stretch stretch;
  double seconds = 0;    // on the critical path
  double imbalance = 0;  // by how much more than what the processes do of it on the average
};

// How long a location computed in one of the thousand most costly stretches, a cause there or not.
struct StretchTime {
  Stretch stretch;
  LocationIndex location = 0;
  double seconds = 0;
};

// A time in which the critical path runs along one location. Times are the trace's own.
struct PathPart {
  LocationIndex location = 0;
  double begin = 0, end = 0;
};

// Waiting at a call of which no cause is known.
struct UnexplainedWait {
  LocationIndex location = 0;
  CallPathIndex call_path = 0;
  double seconds = 0;
};

// Waiting of one pattern at a call: for what the one waited for did, and for what that one itself
// waited for.
struct WaitsAt {
  LocationIndex location = 0;
  CallPathIndex call_path = 0;
  MetricIndex metric = 0;
  double direct = 0, indirect = 0;
};

inline constexpr std::size_t kPathParts = 20'000;

// Where rows are in an order, equal ones are by location, then by call path.
struct RootCauses {
  CauseGroups groups;                    // the same causes, put together
  std::vector<RootCause> causes;         // those whose gain is known first, by that; then by cost
  std::vector<PathShare> critical_path;  // the longest share first
  // The same path in order of time: of very many parts the last kPathParts.
  std::vector<PathPart> path_parts;
  std::vector<WaitsAt> waits_at;                // waits below the threshold apart
  std::vector<UnexplainedWait> unexplained_at;  // waits below the threshold apart
  std::vector<StretchTime> times;               // a stretch after the other
  double waits = 0;                             // seconds of all waits: costs and the following
  double unexplained = 0;
  double path_length = 0;  // of the critical path: until the end of the process that ends last
  // Until when waits and operations could be numbered, if not until the end: a time of the trace.
  // What came later is left out, and its waits are unexplained.
  std::optional<double> until;
  // Of the longest wait of each of WaitResults::worst, then of_places; may have no links.
  std::vector<Chain> asked;
};

}  // namespace kojak::expert
