#include "expert/causes/seen/stretch_counters.h"

#include <algorithm>
#include <bit>

#include "epilog/format/field_values.h"
#include "expert/sums/samples.h"
#include "expert/sums/severity.h"

namespace kojak::expert {

StretchCounters::StretchCounters(const Definitions& definitions, const RegionClasses& classes,
                                 std::size_t locations)
    : sums_(definitions.metrics.size(), classes, locations) {
  definitions.metrics.for_each([&](MetricId, const MetricDef& def) {
    real_.push_back(def.dtype == kFloatCounter);
    adds_up_.push_back(adds_up(def));
  });
}

void StretchCounters::on_counted(const earl::OpenCall& in, std::span<const std::uint64_t> values) {
  const std::span<double> sums = sums_.now(in.index);
  for (std::size_t i = 0; i < sums.size() && i < values.size(); ++i) {
    if (!adds_up_[i]) continue;
    // (A damaged trace may have values that fall.)
    sums[i] += real_[i] ? std::bit_cast<double>(values[i])
                        : static_cast<double>(static_cast<std::int64_t>(values[i]));
  }
}

void StretchCounters::add_to(RootCauses& causes) {
  sums_.finish();
  for (RootCause& cause : causes.causes) {
    const std::span<const StretchSums<double>::Row> rows = sums_.rows(cause.stretch);
    const auto own = std::find_if(rows.begin(), rows.end(), [&](const StretchSums<double>::Row& r) {
      return r.location == cause.location;
    });
    if (own == rows.end()) continue;
    for (std::size_t i = 0; i < adds_up_.size(); ++i) {
      if (!adds_up_[i]) continue;
      double others = 0;
      for (const StretchSums<double>::Row& row : rows) {
        if (row.location != cause.location) others += sums_.values(row)[i];
      }
      const std::size_t count = rows.size() - 1;
      cause.counted.push_back({static_cast<std::uint32_t>(i), sums_.values(*own)[i],
                               count != 0 ? others / static_cast<double>(count) : 0, count != 0});
    }
  }
}

void name_sampled_functions(RootCauses& causes, const Definitions& definitions) {
  struct Function {
    RegionId function;
    SampledPlace sum;
    double most = 0;  // samples of a line at the culprit
  };
  constexpr std::size_t kFunctions = 3;  // that a cause tells
  for (RootCause& cause : causes.causes) {
    std::vector<Function> functions;
    for (const SampledPlace& p : cause.sampled) {
      const CallSiteId place = sampled_place(definitions, p.site);
      if (is_absent(place)) continue;
      const RegionId function = definitions.call_sites.find(place)->left;
      auto known = std::find_if(functions.begin(), functions.end(),
                                [&](const Function& f) { return f.function == function; });
      if (known == functions.end()) {
        known = functions.insert(functions.end(), {function, {place, 0, 0}, 0});
      }
      known->sum.samples += p.samples;
      known->sum.others += p.others;
      if (p.samples > known->most) {
        known->most = p.samples;
        known->sum.site = place;
      }
    }
    std::erase_if(functions, [](const Function& f) { return !(f.sum.samples > f.sum.others); });
    std::stable_sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
      return a.sum.samples - a.sum.others > b.sum.samples - b.sum.others;
    });
    if (functions.size() > kFunctions) functions.resize(kFunctions);
    for (const SampledPlace& p : cause.sampled) {
      const CallSiteId place = sampled_place(definitions, p.site);
      const bool told = !is_absent(place) &&
                        std::any_of(functions.begin(), functions.end(), [&](const Function& f) {
                          return f.function == definitions.call_sites.find(place)->left;
                        });
      if (told && p.samples > 0) cause.lines.push_back({place, p.samples, p.others});
    }
    cause.sampled.clear();
    for (const Function& f : functions) cause.sampled.push_back(f.sum);
  }
}

}  // namespace kojak::expert
