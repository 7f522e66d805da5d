#include "expert/profile/shares.h"

#include <algorithm>
#include <numeric>

namespace kojak::expert {

Shares::Shares(const Report& report)
    : time(RunTime::of([&](std::string_view name) {
        const std::size_t m = report.find_metric(name);
        return m == kNone ? 0.0 : report.total(m);
      })),
      start(report.metrics().size()),
      other_tree(report.metrics().size()) {
  const std::size_t all = report.find_metric(Time::kMetric.name);
  for (std::size_t m = 0; m < other_tree.size(); ++m) {
    const std::size_t parent = report.metrics()[m].parent;
    other_tree[m] = parent == kNone ? m != all : other_tree[parent];
  }
  if (const std::size_t service = report.find_metric(Service::kMetric.name); service != kNone) {
    const double served = report.total(service);
    start[service] += served;
    if (all != kNone) start[all] += served;
  }
  if (!(time.left_out > 0)) return;
  const auto add = [&](const Metric& metric, double seconds) {
    for (std::size_t m = report.find_metric(metric.name); m != kNone;
         m = report.metrics()[m].parent)
      start[m] += seconds;
  };
  add(InitExit::kMetric, time.mpi);
  for (std::size_t m = 0; m < kPgasModels; ++m) add(*kStartAndEnd[m].whole, time.of_models[m]);
}

double Shares::part(const Report& report, std::size_t m) const {
  if (!other_tree[m] || time.left_out == 0) {
    return report.total(m) - start[m];
  }
  double sum = 0;
  std::vector<double> values(report.threads());
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (is_start(report, c) || !report.row(m, c, values)) continue;
    sum = std::accumulate(values.begin(), values.end(), sum);
  }
  return sum;
}

bool Shares::is_start(const Report& report, std::size_t call_path) {
  return starts_or_ends_library(report.region_name(report.call_paths()[call_path].region));
}

std::vector<PlaceWait> waits_of(const Report& report) {
  std::vector<PlaceWait> waits;
  std::vector<double> values(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    if (!report.is_wait(m)) continue;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, values)) continue;
      PlaceWait wait{m, c};
      for (std::size_t t = 0; t < values.size(); ++t) {
        wait.seconds += values[t];
        if (values[t] > wait.worst_seconds) {
          wait.worst_seconds = values[t];
          wait.worst_thread = t;
        }
      }
      if (wait.seconds > 0) waits.push_back(wait);
    }
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const PlaceWait& a, const PlaceWait& b) { return a.seconds > b.seconds; });
  return waits;
}

double run_seconds(const Report& report) {
  const std::vector<double> times = run_times(
      [&](std::string_view name) {
        const std::size_t m = report.find_metric(name);
        return m == kNone ? std::vector<double>(report.threads()) : report.by_thread(m);
      },
      {});
  return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
}

}  // namespace kojak::expert
