// What the trace's counters counted while the processes computed: of each stretch (stretches.h) at
// each location, so that a root cause can say whether a late process had more to do or took longer
// for the same.
//
// Fed with what was counted between two events of a location, before the later one of them. A
// worker's stretches are compared with its master's (compare_as). Only computing is kept. Memory:
// 8 bytes for each counter, stretch and location that does it. Not thread-safe; nothing fails.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/causes/root_causes.h"
#include "expert/causes/stretches.h"
#include "expert/causes/timeline.h"

namespace kojak::expert {

class StretchCounters {
 public:
  StretchCounters(const Definitions& definitions, const RegionClasses& classes,
                  std::size_t locations);

  void use(const LibraryCalls* library) { library_ = library; }
  void compare_as(CallPathIndex path, CallPathIndex as);
  void on_enter(const earl::OpenCall& call);
  void on_call(const earl::Call& call);
  // Since the location's last event with values; of a float counter the bits of a double.
  void on_counted(const earl::OpenCall& in, std::span<const std::uint64_t> values);

  // After the last event: to each cause that computes what it counted, and the others.
  void add_to(RootCauses& causes);

 private:
  struct Open {
    CallPathIndex path;
    Timeline::Kind kind;
  };
  struct Location {
    std::vector<Open> open;
    std::size_t calls = 0;  // open ones, one in the other
    CallBounds bounds;
    std::vector<CallPathIndex> paths;  // that computed since the last call
    std::vector<double> values;        // of each of them
  };
  struct Row {
    LocationIndex location;
    std::size_t first;  // in sums_
  };

  CallPathIndex compared_as(CallPathIndex path) const {
    const bool other = path < compared_as_.size() && compared_as_[path] != kNoCallPath;
    return other ? compared_as_[path] : path;
  }
  void name(LocationIndex location);

  const RegionClasses& classes_;
  std::vector<bool> real_, adds_up_;  // of each counter
  std::size_t counters_;
  const LibraryCalls* library_;
  std::vector<Location> locations_;
  std::vector<CallPathIndex> compared_as_;
  std::unordered_map<Between, std::vector<Row>, Between::Hash> rows_;
  std::vector<double> sums_;
};

// Of each cause the functions that its process computed more than the others did, the most first:
// what CauseFinder tells of single sites becomes one entry for each function, at its line with the
// most samples.
void name_sampled_functions(RootCauses& causes, const Definitions& definitions);

}  // namespace kojak::expert
