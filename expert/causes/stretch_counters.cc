#include "expert/causes/stretch_counters.h"

#include <algorithm>
#include <bit>

#include "epilog/format/field_values.h"
#include "expert/sums/samples.h"
#include "expert/sums/severity.h"

namespace kojak::expert {

StretchCounters::StretchCounters(const Definitions& definitions, const RegionClasses& classes,
                                 std::size_t locations)
    : classes_(classes),
      counters_(definitions.metrics.size()),
      library_(nullptr),
      locations_(locations) {
  definitions.metrics.for_each([&](MetricId, const MetricDef& def) {
    real_.push_back(def.dtype == kFloatCounter);
    adds_up_.push_back(adds_up(def));
  });
}

void StretchCounters::compare_as(CallPathIndex path, CallPathIndex as) {
  if (path >= compared_as_.size()) compared_as_.resize(path + 1, kNoCallPath);
  compared_as_[path] = as;
}

void StretchCounters::on_enter(const earl::OpenCall& call) {
  const Timeline::Kind kind = kind_of(call, classes_);
  Location& l = locations_[call.index];
  l.open.push_back({compared_as(raw(call.cnode)), kind});
  if (kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  if (kind != Timeline::Kind::kCall || l.calls++ != 0) return;
  l.bounds.enter(l.open.back().path, *library_);
  name(call.index);
}

void StretchCounters::on_call(const earl::Call& call) {
  Location& l = locations_[call.index];
  if (l.open.empty()) return;  // a damaged trace
  if (l.open.back().kind == Timeline::Kind::kCall && --l.calls == 0) l.bounds.leave();
  if (l.open.back().kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  l.open.pop_back();
}

void StretchCounters::on_counted(const earl::OpenCall& in, std::span<const std::uint64_t> values) {
  Location& l = locations_[in.index];
  if (l.open.empty() || l.calls != 0 || l.open.back().kind != Timeline::Kind::kComputing) return;
  const CallPathIndex path = l.open.back().path;
  const auto known = std::find(l.paths.begin(), l.paths.end(), path);
  const auto at = static_cast<std::size_t>(known - l.paths.begin());
  if (known == l.paths.end()) {
    l.paths.push_back(path);
    l.values.resize(l.paths.size() * counters_, 0);
  }
  for (std::size_t i = 0; i < counters_ && i < values.size(); ++i) {
    if (!adds_up_[i]) continue;
    // (A damaged trace may have values that fall.)
    l.values[at * counters_ + i] += real_[i]
                                        ? std::bit_cast<double>(values[i])
                                        : static_cast<double>(static_cast<std::int64_t>(values[i]));
  }
}

void StretchCounters::name(LocationIndex location) {
  Location& l = locations_[location];
  if (l.bounds.inside() != kNoCallPath) {  // the library's
    l.paths.clear();
    l.values.clear();
  }
  for (std::size_t p = 0; p < l.paths.size(); ++p) {
    std::vector<Row>& rows = rows_[{l.paths[p], l.bounds.before(), l.bounds.after()}];
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& r) { return r.location == location; });
    if (row == rows.end()) {
      rows.push_back({location, sums_.size()});
      sums_.resize(sums_.size() + counters_, 0);
      row = rows.end() - 1;
    }
    for (std::size_t i = 0; i < counters_; ++i) {
      sums_[row->first + i] += l.values[p * counters_ + i];
    }
  }
  l.paths.clear();
  l.values.clear();
}

void StretchCounters::add_to(RootCauses& causes) {
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    locations_[l].bounds.finish();
    name(static_cast<LocationIndex>(l));
  }
  for (RootCause& cause : causes.causes) {
    const Stretch& s = cause.stretch;
    if (s.kind != Stretch::Kind::kComputing) continue;
    const auto found =
        rows_.find({compared_as(s.path), compared_as(s.before), compared_as(s.after)});
    if (found == rows_.end()) continue;
    const std::vector<Row>& rows = found->second;
    const auto own = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& r) { return r.location == cause.location; });
    if (own == rows.end()) continue;
    for (std::size_t i = 0; i < counters_; ++i) {
      if (!adds_up_[i]) continue;
      double others = 0;
      for (const Row& row : rows) {
        if (row.location != cause.location) others += sums_[row.first + i];
      }
      const std::size_t count = rows.size() - 1;
      cause.counted.push_back({static_cast<std::uint32_t>(i), sums_[own->first + i],
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
