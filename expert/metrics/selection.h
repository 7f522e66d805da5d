// The metrics of a report, and which parts of their tree it shows: --select and --exclude.
//
// Names are unique names of metrics. Selected are a metric, all below it, and the nodes above it;
// excluded are a metric and all below it. Without a selection everything is selected. Sums stay
// what they are: the time of a part that is not shown is a part of the node above it. Owns its
// names; nothing fails; unknown names are for the caller to report.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "expert/metrics/metric.h"

namespace kojak::expert {

// A metric of the analysis, its number in the severity store, and whether the report shows it.
struct ReportMetric {
  Metric metric;
  MetricIndex index = 0;
  bool shown = true;
  std::string remark = {};  // what the trace lacks for it
};

struct Selection {
  std::vector<std::string> select, exclude;

  // The first name that no metric has; empty if all are known.
  std::string unknown(const std::vector<ReportMetric>& metrics) const {
    for (const auto* names : {&select, &exclude}) {
      for (const std::string& name : *names) {
        const bool known = std::any_of(metrics.begin(), metrics.end(), [&](const ReportMetric& m) {
          return m.metric.name == name;
        });
        if (!known) return name;
      }
    }
    return {};
  }
  // Sets `shown`; metrics come with a parent before its children.
  void apply(std::vector<ReportMetric>& metrics) const {
    const auto named = [](const std::vector<std::string>& names, const ReportMetric& m) {
      return std::find(names.begin(), names.end(), m.metric.name) != names.end();
    };
    const auto parent_of = [&](const ReportMetric& m) {
      return std::find_if(metrics.begin(), metrics.end(),
                          [&](const ReportMetric& p) { return p.metric.name == m.metric.parent; });
    };
    for (ReportMetric& m : metrics) {
      const auto parent = parent_of(m);
      const bool inherits = parent != metrics.end() && parent->shown;
      m.shown = select.empty() || named(select, m) || inherits;
    }
    // The way up from what is selected. Children come last, so that this goes all the way.
    for (auto m = metrics.rbegin(); m != metrics.rend(); ++m) {
      if (!m->shown) continue;
      if (const auto parent = parent_of(*m); parent != metrics.end()) parent->shown = true;
    }
    for (ReportMetric& m : metrics) {
      const auto parent = parent_of(m);
      const bool left_out = parent != metrics.end() && !parent->shown;
      if (left_out || named(exclude, m)) m.shown = false;
    }
  }
};

}  // namespace kojak::expert
