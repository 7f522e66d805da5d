#include "expert/causes/cause_metrics.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "expert/patterns/catalogue.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

// What is called after a pattern: "delay_latesender" for mpi_latesender. Lives as long as the
// program, as the catalogue's texts do.
struct Names {
  std::string name, title, long_name, long_title, direct_name, indirect_name;
};
const std::vector<Names>& names() {
  static const std::vector<Names> kNames = [] {
    std::vector<Names> made;
    for (const Metric& m : all_metrics()) {
      const std::string_view rest = m.name.starts_with("mpi_") ? m.name.substr(4) : m.name;
      const std::string name = std::string(kDelayMetric) + "_" + std::string(rest), title(m.title);
      made.push_back({name, "For " + title, name + "_longterm", "For those who wait at " + title,
                      std::string(kDirectWaitsMetric) + "_" + std::string(rest),
                      std::string(kIndirectWaitsMetric) + "_" + std::string(rest)});
    }
    return made;
  }();
  return kNames;
}

ReportMetric metric_of_causes(std::string_view name, std::string_view title,
                              std::string_view parent, std::string_view summary,
                              SeverityStore& severities) {
  Metric metric;
  metric.name = name;
  metric.title = title;
  metric.parent = parent;
  metric.kind = Metric::Kind::kSummand;
  metric.summary = summary;
  metric.of_causes = true;
  return {metric, severities.add_metric(SeverityStore::cells_of(metric))};
}

// Waits, at the waiting calls: the parts for what the one waited for did and waited for.
void add_waits(const RootCauses& causes, bool direct, SeverityStore& severities,
               std::vector<ReportMetric>& metrics) {
  const std::string_view root = direct ? kDirectWaitsMetric : kIndirectWaitsMetric;
  metrics.push_back(metric_of_causes(root, direct ? "Direct Waits" : "Indirect Waits", "",
                                     direct ? "Waiting for what the one waited for did, or for "
                                              "what is not known."
                                            : "Waiting for one that waited itself at that time, or "
                                              "longer than this one did.",
                                     severities));
  std::map<MetricIndex, MetricIndex> of_pattern;
  for (const WaitsAt& w : causes.waits_at) of_pattern[w.metric] = 0;
  for (auto& [pattern, metric] : of_pattern) {
    const Names& n = names()[pattern];
    metrics.push_back(metric_of_causes(direct ? n.direct_name : n.indirect_name,
                                       all_metrics()[pattern].title, root,
                                       "This part of the pattern's waiting.", severities));
    metric = metrics.back().index;
  }
  for (const WaitsAt& w : causes.waits_at) {
    severities.add(of_pattern[w.metric], w.call_path, w.location, direct ? w.direct : w.indirect);
  }
}

// "MPI_Win_fence halo.c:39"
std::string call_with_place(const ReportParts& parts, CallPathIndex call) {
  const CallPath& path = parts.call_paths[call];
  const RegionDef* region = parts.definitions.regions.find(path.region);
  const std::string name = region != nullptr ? region->name : "a call";
  const std::string site = site_name(parts.definitions, path.site);
  return site.empty() ? name : name + ' ' + site;
}

std::string name_of(const ReportParts& parts, const Stretch& stretch) {
  const bool first = stretch.before == kNoCallPath, last = stretch.after == kNoCallPath;
  if (first && last) return "from its first to its last event";
  if (first) return "before " + call_with_place(parts, stretch.after);
  if (last) return "after " + call_with_place(parts, stretch.before);
  return "between " + call_with_place(parts, stretch.before) + " and " +
         call_with_place(parts, stretch.after);
}

// The call paths of stretches, made as they are needed.
class StretchPaths {
 public:
  explicit StretchPaths(const ReportParts& parts) : parts_(parts) {
    for (const CallPath& path : parts.call_paths) used_.insert(path.region);
  }
  void add(const Stretch& stretch) {
    if (stretch.path == kNoCallPath || paths_.contains(key(stretch))) return;
    const RegionId region = free_region();
    parts_.stretches.emplace(region, name_of(parts_, stretch));
    paths_.emplace(key(stretch), static_cast<CallPathIndex>(parts_.call_paths.size()));
    const CallPathIndex above = caller_of_both(stretch);
    parts_.call_paths.push_back({region, site_of(stretch, above), above});
  }
  // Where what a stretch costs stands.
  CallPathIndex place_of(const Stretch& stretch) const {
    if (stretch.kind == Stretch::Kind::kComputing) {
      if (const auto own = paths_.find(key(stretch)); own != paths_.end()) return own->second;
    }
    for (const CallPathIndex path : {stretch.path, stretch.after, stretch.before}) {
      if (path != kNoCallPath) return path;
    }
    return 0;
  }

 private:
  using Key = std::tuple<CallPathIndex, CallPathIndex, CallPathIndex>;
  static Key key(const Stretch& s) { return {s.path, s.before, s.after}; }

  RegionId free_region() {
    while (parts_.definitions.regions.find(RegionId{next_}) != nullptr ||
           used_.contains(RegionId{next_})) {
      ++next_;
    }
    return RegionId{next_++};
  }
  // The call path that both calls were made from: the region that the trace has around the stretch,
  // or a function below it that was entered with its calls, since call sites know what called them.
  // Two calls in a region that was left in between were not made from one.
  CallPathIndex caller_of_both(const Stretch& stretch) const {
    if (stretch.before == kNoCallPath || stretch.after == kNoCallPath) return stretch.path;
    const std::size_t above = parts_.call_paths[stretch.before].parent;
    if (above != parts_.call_paths[stretch.after].parent) return stretch.path;
    return region_around(stretch.before) == stretch.path ? static_cast<CallPathIndex>(above)
                                                         : stretch.path;
  }
  // The region in which the trace has the call: above all functions that were entered with it.
  std::size_t region_around(CallPathIndex call) const {
    std::size_t at = call;
    for (std::size_t i = 0; i < kMostSiteCallers && has_caller(parts_.call_paths[at].site); ++i) {
      at = parts_.call_paths[at].parent;
    }
    return parts_.call_paths[at].parent;
  }
  bool has_caller(CallSiteId site) const {
    const CallSiteDef* const found = parts_.definitions.call_sites.find(site);
    return found != nullptr && !is_absent(found->caller);
  }
  CallSiteId site_in(CallPathIndex above, CallPathIndex call) const {
    if (call == kNoCallPath || parts_.call_paths[call].parent != above) {
      return absent<CallSiteId>();
    }
    return parts_.call_paths[call].site;
  }
  // That of the call before it if both calls are in the same function, which puts it below that
  // one. Calls in different functions do not tell which of them computes, nor does a single one: it
  // stands below what encloses both.
  CallSiteId site_of(const Stretch& stretch, CallPathIndex above) const {
    const CallSiteId before = site_in(above, stretch.before);
    const CallSiteId after = site_in(above, stretch.after);
    const CallSiteDef* a = parts_.definitions.call_sites.find(before);
    const CallSiteDef* b = parts_.definitions.call_sites.find(after);
    return a != nullptr && b != nullptr && a->left == b->left ? before : absent<CallSiteId>();
  }

  const ReportParts& parts_;
  std::map<Key, CallPathIndex> paths_;
  std::set<RegionId> used_;
  std::uint32_t next_ = 0;
};

// Of each group, where its largest cause stands.
void add_gains(const RootCauses& causes, SeverityStore& severities,
               std::vector<ReportMetric>& metrics) {
  metrics.push_back(metric_of_causes(kGainMetric, "Gain", "",
                                     "By how much the run would be shorter without a group of "
                                     "causes, at its first culprit.",
                                     severities));
  metrics.back().remark = "Gains do not add up: each is of the run without that group alone.";
  for (const CauseGroup& group : causes.groups.listed) {
    if (!group.gain || group.causes.empty()) continue;
    const auto most = std::max_element(group.causes.begin(), group.causes.end(),
                                       [&](std::uint32_t a, std::uint32_t b) {
                                         return causes.causes[a].seconds < causes.causes[b].seconds;
                                       });
    const RootCause& cause = causes.causes[*most];
    severities.add(metrics.back().index, cause.place, cause.location, in_seconds(*group.gain));
  }
}

// The time of stretches goes from their functions to them.
void move_times(const RootCauses& causes, const StretchPaths& paths, SeverityStore& severities) {
  constexpr TimeSum kRounding(1100);  // a nanosecond
  constexpr MetricIndex kTime = metric_index<Execution>();
  for (const StretchTime& t : causes.times) {
    const CallPathIndex place = paths.place_of(t.stretch);
    if (t.stretch.path == kNoCallPath || place == t.stretch.path) continue;
    const std::span<const std::int64_t> there = severities.whole_row(kTime, t.stretch.path);
    if (there.empty()) continue;
    const TimeSum whole(there[t.location]), part = TimeSum::of(t.seconds);
    const TimeSum moved = whole - part < kRounding ? whole : part;
    if (!moved) continue;
    severities.add(kTime, t.stretch.path, t.location, TimeSum() - moved);
    severities.add(kTime, place, t.location, moved);
  }
}

}  // namespace

void add_cause_metrics(RootCauses& causes, const ReportParts& parts) {
  SeverityStore& severities = parts.severities;
  std::vector<ReportMetric>& metrics = parts.metrics;
  StretchPaths paths(parts);
  for (const StretchTime& t : causes.times) paths.add(t.stretch);
  for (RootCause& cause : causes.causes) cause.place = paths.place_of(cause.stretch);
  move_times(causes, paths, severities);
  metrics.push_back(metric_of_causes(kDelayMetric, "Delay Costs", "",
                                     "Waiting of others, at the process and call path that made "
                                     "them wait.",
                                     severities));
  struct Pair {
    MetricIndex short_term, long_term;
  };
  std::map<MetricIndex, Pair> of_pattern;
  for (const RootCause& cause : causes.causes) {
    for (const CostOfPattern& p : cause.patterns) of_pattern[p.metric] = {};
  }
  for (auto& [pattern, pair] : of_pattern) {
    const Names& n = names()[pattern];
    metrics.push_back(metric_of_causes(n.name, n.title, kDelayMetric,
                                       "Waiting of those who waited for it directly.", severities));
    pair.short_term = metrics.back().index;
    metrics.push_back(metric_of_causes(n.long_name, n.long_title, kDelayMetric,
                                       "Waiting of those who waited for one that waited for it, "
                                       "and so on.",
                                       severities));
    pair.long_term = metrics.back().index;
  }
  for (const RootCause& cause : causes.causes) {
    for (const CostOfPattern& p : cause.patterns) {
      severities.add(of_pattern[p.metric].short_term, cause.place, cause.location, p.short_term);
      severities.add(of_pattern[p.metric].long_term, cause.place, cause.location, p.long_term);
    }
  }
  metrics.push_back(metric_of_causes("delay_unexplained", "Not Explained", kDelayMetric,
                                     "Waiting, at the waiting call, of which no cause is known.",
                                     severities));
  for (const UnexplainedWait& u : causes.unexplained_at) {
    severities.add(metrics.back().index, u.call_path, u.location, u.seconds);
  }
  if (!parts.ended) add_gains(causes, severities, metrics);
  add_waits(causes, true, severities, metrics);
  add_waits(causes, false, severities, metrics);
  metrics.push_back(metric_of_causes(kCriticalPathMetric, "Critical Path", "",
                                     "Time on the path of work that decided how long the run "
                                     "took.",
                                     severities));
  const MetricIndex path = metrics.back().index;
  metrics.push_back(metric_of_causes(kPathImbalanceMetric, "Critical-Path Imbalance", "",
                                     "By how much more of it is on the critical path than a "
                                     "process does on the average.",
                                     severities));
  const MetricIndex imbalance = metrics.back().index;
  for (const PathShare& share : causes.critical_path) {
    severities.add(path, paths.place_of(share.stretch), share.location, share.seconds);
    severities.add(imbalance, paths.place_of(share.stretch), share.location, share.imbalance);
  }
}

}  // namespace kojak::expert
