// What the one who finds the root causes of a run asks those who have its parts for, and what they
// answer: all of it as plain values, so that a part may be another process's.
//
// A part is a time of the run between two moments at which all stood together in one call (or its
// begin, or its end). What is compared, who waited for whom, and how far chains go, lies within
// one; so costs are found in each part by itself, and added. What a run would gain without a cause
// is how much earlier all leave such a moment, part by part; behind it all are earlier by that.
// The critical path goes from the last part to the first.
//
// Numbers of stretches and call paths are those of the part. Nothing fails; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "expert/causes/gain_finder.h"
#include "expert/causes/root_causes.h"
#include "expert/causes/stretches.h"
#include "expert/metrics/amount.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

using WaitId = std::uint32_t;

// ---- What a part costs.

// What a cause made others wait.
struct CauseCost {
  struct Sums {
    Amount short_term = 0, long_term = 0;
  };
  // Of those who waited for it directly: at a window or communicator; in calls of a call path.
  struct OfObject {
    Operation::Object object = Operation::Object::kNothing;
    std::uint32_t id = 0;
    bool operator==(const OfObject&) const = default;
  };
  struct AtCall {
    CallPathIndex call_path = 0;
    MetricIndex metric = 0;
    bool operator==(const AtCall&) const = default;
  };
  LocationIndex location = 0;
  StretchId stretch = 0;
  std::vector<std::pair<MetricIndex, Sums>> patterns;
  // In the order in which they are met on the way from the end to the begin.
  std::vector<std::pair<OfObject, Amount>> objects;
  std::vector<std::pair<AtCall, Amount>> at;
  // The wait that passed on most of it, how much, and the links of the chain that begins with it;
  // the interval in which it is to blame for that.
  double most = 0;
  WaitId via = 0;
  std::uint32_t links = 0;
  Ticks from = 0, to = 0;
  Ticks longer = 0;
  bool compared = false;

  template <class Archive>
  void visit(Archive& archive) {
    archive(location, stretch, patterns, objects, at, most, via, links, from, to, longer, compared);
  }
};

struct CauseSums {
  struct Unexplained {
    LocationIndex location;
    CallPathIndex call_path;
    Amount amount;
  };
  struct Waits {
    LocationIndex location;
    CallPathIndex call_path;
    MetricIndex metric;
    Amount direct, indirect;
  };
  struct Time {  // without waits
    StretchId stretch;
    LocationIndex location;
    Ticks time;
  };
  struct Samples {
    StretchId stretch;
    LocationIndex location;
    CallSiteId site;
    std::uint64_t count;
  };
  std::vector<Stretch> stretches;
  std::vector<CauseCost> costs;
  std::vector<Unexplained> unexplained_at;
  std::vector<Waits> waits_at;
  std::vector<Time> times;
  std::vector<Samples> samples;
  std::vector<std::optional<Chain>> chains;  // that were asked for; of other parts' waits: nothing
  Amount waits = 0, unexplained = 0;
  std::vector<Ticks> ends;  // by location
  // How many of what is numbered in the whole run: waits, groups, dependencies.
  std::array<std::uint64_t, 3> numbered{};
  // Why it is no part by itself: what `why_words` has there.
  std::uint8_t why_apart = 0;

  static constexpr std::uint8_t kNotAll = 1, kAcross = 2, kTooMany = 3;
  static constexpr const char* why_words[] = {
      "", "not all met in the call at which it was to be cut", "a wait reaches across a cut",
      "a root cause is one at more windows or calls of others than are kept"};
  const char* why() const { return why_words[why_apart]; }

  template <class Archive>
  void visit(Archive& archive) {
    archive(stretches, costs, unexplained_at, waits_at, times, samples, chains, waits, unexplained,
            ends, numbered, why_apart);
  }
};

// ---- What the run would gain.

// Things that are left out: causes, or what of some causes belongs together.
struct LeftOutThings {
  struct Use {  // of a cause so much is a thing's
    LocationIndex location;
    StretchId stretch;
    std::uint32_t thing;
    Ticks part, whole;
  };
  std::vector<Use> uses;                    // by thing
  std::uint32_t things = 0, summed = 0;     // those from `summed` on are summed up
  std::vector<std::uint8_t> without_pairs;  // by thing
  template <class Archive>
  void visit(Archive& archive) {
    archive(uses, things, summed, without_pairs);
  }
};
// Of one: who waited for it directly.
struct ThingSums {
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
  struct Pair {
    LocationIndex culprit, victim;
    Amount amount;
  };
  std::vector<std::pair<LocationIndex, Amount>> waits;
  std::vector<Pair> pairs;
  Ticks begin = kNever;  // of its first delay
  template <class Archive>
  void visit(Archive& archive) {
    archive(waits, pairs, begin);
  }
};

// What is left out in which cases (GainFinder): a bit for each of them.
struct GainCases {
  struct OfThing {
    std::uint32_t all = 0, odd = 0;
    std::vector<LocationIndex> odd_locations;  // sorted: where it is left out in `odd`, too
    template <class Archive>
    void visit(Archive& archive) {
      archive(all, odd, odd_locations);
    }
  };
  std::size_t cases = 0;
  std::vector<OfThing> things;
  template <class Archive>
  void visit(Archive& archive) {
    archive(cases, things);
  }
};

// ---- Chains, and the critical path.

struct ChainWanted {  // of a cause, as CauseCost tells
  LocationIndex location;
  StretchId stretch;
  WaitId via;
  std::uint32_t links;
  Ticks from, to;
  std::uint64_t most;  // links
};

struct PathPlace {
  LocationIndex location = 0;
  Ticks time = 0;
  std::uint64_t jumps = 0;  // since time moved last
};
// The path goes back, along the same location or to another one. False: so many are kept.
inline bool add_path_part(std::vector<PathPart>& parts, const PathPart& part) {
  if (!parts.empty() && parts.back().location == part.location) {
    parts.back().begin = part.begin;
  } else if (parts.size() < kPathParts) {
    parts.push_back(part);
  } else {
    return false;  // what comes back to the earliest one is another part
  }
  return true;
}
struct PathOfPart {
  struct Share {
    LocationIndex location;
    StretchId stretch;
    Amount time;
  };
  std::vector<Share> shares;
  std::vector<PathPart> parts;  // backward, the first kPathParts
  bool all_parts = true;
  PathPlace goes_on;  // in the part before

  template <class Archive>
  void visit(Archive& archive) {
    archive(shares, parts, all_parts, goes_on);
  }
};

// ---- In this order; the first two once, the others as often as is wanted.

struct CauseRequest {
  enum class Kind : std::uint8_t { kSums, kLeaveOut, kReplay, kChains, kPath } kind{};
  struct Asked {  // the chain to the cause of the wait in which the location is just before then
    LocationIndex location;
    Seconds end;
  };
  std::vector<Asked> asked;
  LeftOutThings left_out;
  GainCases cases;
  std::vector<ChainWanted> chains;
  PathPlace path;
  template <class Archive>
  void visit(Archive& archive) {
    archive(kind, asked, left_out, cases, chains, path);
  }
};
struct CauseAnswer {
  CauseSums sums;
  std::vector<ThingSums> things;
  std::vector<Ticks> earlier;  // by case: by how much all leave its end earlier, or the run ends
  std::vector<Chain> chains;
  PathOfPart path;
  template <class Archive>
  void visit(Archive& archive) {
    archive(sums, things, earlier, chains, path);
  }
};

}  // namespace kojak::expert
