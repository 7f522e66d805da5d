// Samples of what threads compute outside of MPI (SAMPLE): where in the program they lie.
//
// A sample stands at the region that the trace has open; below that the functions that led to the
// sampled one are call paths of their own, as far as the program tells their names. Code without
// lines (a mathematical library, say) counts for the innermost caller that has one, if any has.
// Counts are intervals of processor time. Memory: distinct places.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expert/metrics/selection.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

inline constexpr std::string_view kSamplesMetric = "samples";

class Samples {
 public:
  explicit Samples(const Setting& setting) : definitions_(setting.definitions()) {}

  void add(LocationIndex location, CallPathIndex path, CallSiteId site, std::uint64_t count);
  void on_sample(const earl::OpenCall& in, Seconds /*time*/, CallSiteId site, std::uint32_t count) {
    add(in.index, raw(in.cnode), site, count);
  }
  bool any() const { return !counts_.empty(); }
  // What another one was told of, behind this one; its call path p is paths[p] here.
  void add(const Samples& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    archive(counts_);
  }
  // The root metric of samples, and the call paths that it needs.
  void add_metric(SeverityStore& severities, std::vector<ReportMetric>& metrics,
                  std::vector<CallPath>& call_paths) const;

 private:
  struct Count {
    LocationIndex location;
    std::uint64_t count;
  };
  const Definitions& definitions_;
  std::map<std::uint64_t, std::vector<Count>> counts_;  // by call path and site
};

// Seconds of processor time between two samples; 0: the trace does not say.
double sample_interval(const Definitions& definitions);

// Where a call stands, if known: "halo.c:118".
std::string site_name(const Definitions& definitions, CallSiteId site);

// The place that a sample counts for: the innermost one with a line, or just the innermost one.
// Absent if there is none.
CallSiteId sampled_place(const Definitions& definitions, CallSiteId site);

// The function with the most of these samples, at its line with the most: a place in it. Absent if
// none has a place.
CallSiteId most_sampled(const Definitions& definitions,
                        const std::map<CallSiteId, double>& samples);

}  // namespace kojak::expert
