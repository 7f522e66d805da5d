// Causes put together: all that one function does to make others wait, whatever process, iteration
// and pattern, with the one gain of all of it.
//
// Plain values; nothing fails; any thread. Amounts are whole numbers: all groups that are listed,
// what is left out and what has no cause are all waiting, to the last unit.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/causes/what_is_done.h"
#include "expert/metrics/amount.h"

namespace kojak::expert {

struct CauseGroup {
  // Who makes others wait in it, by how the waiting is spread over them.
  enum class Shape : std::uint8_t {
    kFew,    // a few processes have most of it
    kPairs,  // sets of processes, each of which waits for none but its own
    kTurns,  // they wait for the locks of one another
    kAll     // many processes
  };
  // Where no function is large: what was put together instead.
  enum class Spread : std::uint8_t { kNo, kPhase, kKind };

  struct Rank {
    LocationIndex location = 0;
    Amount makes_wait = 0;
    Amount waits = 0;  // directly, for what is in the group
  };
  struct Unit {  // a set of processes, or one process
    std::vector<LocationIndex> members;
    Amount amount = 0;
    LocationIndex culprit = 0, victim = 0;  // of its largest entry; of a process: itself
  };

  Stretch::Kind kind = Stretch::Kind::kComputing;
  Spread spread = Spread::kNo;
  std::uint32_t deadlock = ~0u;             // of LastCalls
  RegionId function = absent<RegionId>();   // absent: not known
  CallSiteId place = absent<CallSiteId>();  // its line with the most samples; absent: none
  Stretch stretch;                          // of its largest cause, and who that is
  LocationIndex largest = 0;
  CallerFrame caller;  // what tells a part from others, or a group from one of the same function
  Amount amount = 0;   // what others wait for it
  Amount direct = 0;   // of it, by those who wait for it themselves
  Ticks longer = 0;    // by how much it took longer, over all its causes
  bool compared = false;
  // By how much earlier the run ends without it, and without it and all listed before it.
  std::optional<Ticks> gain, cumulated;
  Shape shape = Shape::kFew;
  std::vector<Rank> ranks;         // by location
  std::vector<std::uint32_t> few;  // kFew: those who have most of it, by place in `ranks`
  std::vector<Unit> units;         // the largest first
  Ticks median = 0;                // of their amounts
  bool even = false;               // most of them are like that
  std::size_t odd = 0;             // of the units the first ones, which are much larger
  std::optional<Ticks> odd_gain;   // without what makes these longer
  std::vector<std::pair<std::uint32_t, Amount>> patterns;         // metrics, the most costly first
  std::vector<std::pair<std::uint32_t, Amount>> direct_patterns;  // of `direct`, by metric
  // Of these by call path too, as far as they are kept: up to 16 of a cause.
  std::vector<std::pair<std::pair<std::uint32_t, CallPathIndex>, Amount>> direct_at;
  std::vector<std::uint32_t> causes;  // places in RootCauses::causes
  std::vector<CauseGroup> parts;      // by phase, the largest first
  std::size_t functions = 0;          // of a spread one: how many there are in all
};

struct CauseGroups {
  std::vector<CauseGroup> listed;  // by gain, then by amount
  std::size_t left_out = 0;        // groups that are worth no line
  Amount left_out_amount = 0, left_out_most = 0;
  Amount not_attributed = 0;
  Amount all = 0;  // all waiting
  Ticks run = 0;   // until the end of the process that ends last
};

}  // namespace kojak::expert
