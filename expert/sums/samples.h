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
#include "expert/sums/severity.h"

namespace kojak::expert {

inline constexpr std::string_view kSamplesMetric = "samples";

class Samples {
 public:
  explicit Samples(const Definitions& definitions) : definitions_(definitions) {}

  void add(LocationIndex location, CallPathIndex path, CallSiteId site, std::uint32_t count);
  bool any() const { return !counts_.empty(); }
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
