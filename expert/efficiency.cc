#include "expert/efficiency.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kojak::expert {
namespace {

// Of a metric with all below it, by thread.
std::vector<double> by_thread(const Report& report, std::size_t metric) {
  std::vector<double> sums(report.threads()), values(report.threads());
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (!report.row(metric, c, values)) continue;
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += values[t];
  }
  return sums;
}

bool is_below(const Report& report, std::size_t metric, std::size_t above) {
  while (metric != kNone && metric != above) metric = report.metrics()[metric].parent;
  return metric == above;
}

void subtract(std::vector<double>& from, const std::vector<double>& part) {
  for (std::size_t t = 0; t < from.size(); ++t) from[t] -= part[t];
}

}  // namespace

std::optional<Efficiency> efficiency_of(const Report& report) {
  const std::size_t time = report.find_metric("time"), execution = report.find_metric("execution");
  if (time == kNone || execution == kNone || report.threads() == 0) return std::nullopt;
  std::vector<double> computing = by_thread(report, execution), waiting(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    if (node.parent == execution) subtract(computing, by_thread(report, m));
    const bool waits = node.metric.kind == Metric::Kind::kPattern && !node.metric.nobody_awaited &&
                       is_below(report, m, execution) &&
                       report.metrics()[node.parent].metric.kind != Metric::Kind::kPattern;
    if (!waits) continue;
    const std::vector<double> of_pattern = by_thread(report, m);
    for (std::size_t t = 0; t < waiting.size(); ++t) waiting[t] += of_pattern[t];
  }
  const std::vector<double> all = by_thread(report, time);
  Efficiency e;
  e.run_time = *std::max_element(all.begin(), all.end());
  const auto longest = std::max_element(computing.begin(), computing.end());
  if (!(e.run_time > 0) || !(*longest > 0)) return std::nullopt;
  const double waited = waiting[static_cast<std::size_t>(longest - computing.begin())];
  e.load_balance = std::accumulate(computing.begin(), computing.end(), 0.0) /
                   static_cast<double>(computing.size()) / *longest;
  e.serialisation = *longest / (*longest + waited);
  e.transfer = std::min(1.0, (*longest + waited) / e.run_time);
  return e;
}

}  // namespace kojak::expert
