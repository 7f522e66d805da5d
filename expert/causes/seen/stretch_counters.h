// What the trace's counters counted while the processes computed: of each stretch (stretches.h) at
// each location, so that a root cause can say whether a late process had more to do or took longer
// for the same.
//
// stretch_sums.h says when it is fed, and what it keeps. Not thread-safe; nothing fails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/causes/root_causes.h"
#include "expert/causes/seen/stretch_sums.h"

namespace kojak::expert {

class StretchCounters {
 public:
  StretchCounters(const Definitions& definitions, const RegionClasses& classes,
                  std::size_t locations);

  void use(const LibraryCalls* library) { sums_.use(library); }
  void compare_as(CallPathIndex path, CallPathIndex as) { sums_.compare_as(path, as); }
  void on_enter(const earl::OpenCall& call) { sums_.on_enter(call); }
  void on_call(const earl::Call& call) { sums_.on_call(call); }
  // Since the location's last event with values; of a float counter the bits of a double.
  void on_counted(const earl::OpenCall& in, std::span<const std::uint64_t> values);

  // After the last event: to each cause that computes what it counted, and the others.
  void add_to(RootCauses& causes);

 private:
  std::vector<bool> real_, adds_up_;  // of each counter
  StretchSums<double> sums_;
};

// Of each cause the functions that its process computed more than the others did, the most first:
// what CauseFinder tells of single sites becomes one entry for each function, at its line with the
// most samples.
void name_sampled_functions(RootCauses& causes, const Definitions& definitions);

}  // namespace kojak::expert
