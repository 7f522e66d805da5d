#include "expert/causes/cause_metrics.h"

#include <map>
#include <string>

#include "expert/catalogue.h"

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
      const std::string name = "delay_" + std::string(rest), title(m.title);
      made.push_back({name, "For " + title, name + "_longterm", "For those who wait at " + title,
                      "mpi_wait_direct_" + std::string(rest),
                      "mpi_wait_indirect_" + std::string(rest)});
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
  return {metric, severities.add_metric()};
}

}  // namespace

namespace {

// Waits, at the waiting calls: the parts for what the one waited for did and waited for.
void add_waits(const RootCauses& causes, bool direct, SeverityStore& severities,
               std::vector<ReportMetric>& metrics) {
  const std::string_view root = direct ? "mpi_wait_direct" : "mpi_wait_indirect";
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

}  // namespace

CallPathIndex place_of(const Stretch& stretch) {
  for (const CallPathIndex path : {stretch.path, stretch.after, stretch.before}) {
    if (path != kNoCallPath) return path;
  }
  return 0;
}

void add_cause_metrics(const RootCauses& causes, SeverityStore& severities,
                       std::vector<ReportMetric>& metrics) {
  metrics.push_back(metric_of_causes("delay", "Delay Costs", "",
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
    metrics.push_back(metric_of_causes(n.name, n.title, "delay",
                                       "Waiting of those who waited for it directly.", severities));
    pair.short_term = metrics.back().index;
    metrics.push_back(metric_of_causes(n.long_name, n.long_title, "delay",
                                       "Waiting of those who waited for one that waited for it, "
                                       "and so on.",
                                       severities));
    pair.long_term = metrics.back().index;
  }
  for (const RootCause& cause : causes.causes) {
    const CallPathIndex place = place_of(cause.stretch);
    for (const CostOfPattern& p : cause.patterns) {
      severities.add(of_pattern[p.metric].short_term, place, cause.location, p.short_term);
      severities.add(of_pattern[p.metric].long_term, place, cause.location, p.long_term);
    }
  }
  metrics.push_back(metric_of_causes("delay_unexplained", "Not Explained", "delay",
                                     "Waiting, at the waiting call, of which no cause is known.",
                                     severities));
  for (const UnexplainedWait& u : causes.unexplained_at) {
    severities.add(metrics.back().index, u.call_path, u.location, u.seconds);
  }
  add_waits(causes, true, severities, metrics);
  add_waits(causes, false, severities, metrics);
  metrics.push_back(metric_of_causes("critical_path", "Critical Path", "",
                                     "Time on the path of work that decided how long the run "
                                     "took.",
                                     severities));
  const MetricIndex path = metrics.back().index;
  metrics.push_back(metric_of_causes("critical_path_imbalance", "Critical-Path Imbalance", "",
                                     "By how much more of it is on the critical path than a "
                                     "process does on the average.",
                                     severities));
  const MetricIndex imbalance = metrics.back().index;
  for (const PathShare& share : causes.critical_path) {
    severities.add(path, place_of(share.stretch), share.location, share.seconds);
    severities.add(imbalance, place_of(share.stretch), share.location, share.imbalance);
  }
}

}  // namespace kojak::expert
