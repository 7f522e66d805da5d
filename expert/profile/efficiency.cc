#include "expert/profile/efficiency.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "expert/patterns/time.h"
#include "expert/profile/run_time.h"

namespace kojak::expert {
namespace {

bool is_below(const Report& report, std::size_t metric, std::size_t above) {
  while (metric != kNone && metric != above) metric = report.metrics()[metric].parent;
  return metric == above;
}

void subtract(std::vector<double>& from, const std::vector<double>& part) {
  for (std::size_t t = 0; t < from.size(); ++t) from[t] -= part[t];
}

}  // namespace

std::vector<double> computing_of(const Report& report) {
  const std::size_t execution = report.find_metric(Execution::kMetric.name);
  if (execution == kNone) return {};
  std::vector<double> computing = report.by_thread(execution);
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    if (report.metrics()[m].parent == execution) subtract(computing, report.by_thread(m));
  }
  return computing;
}

std::optional<Efficiency> efficiency_of(const Report& report) {
  const std::size_t time = report.find_metric(Time::kMetric.name),
                    execution = report.find_metric(Execution::kMetric.name);
  if (time == kNone || execution == kNone || report.threads() == 0) return std::nullopt;
  std::vector<double> computing = computing_of(report);
  // Who serves the others is none of those among whom the work is divided.
  const std::size_t service = report.find_metric(Service::kMetric.name);
  std::size_t workers = computing.size();
  if (service != kNone) {
    const std::vector<double> served = report.by_thread(service);
    for (std::size_t t = 0; t < served.size(); ++t) {
      if (!(served[t] > 0)) continue;
      computing[t] = 0;
      --workers;
    }
  }
  std::vector<double> waiting(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    const bool waits =
        report.is_wait(m) && !node.metric.nobody_awaited && is_below(report, m, execution);
    if (!waits) continue;
    const std::vector<double> of_pattern = report.by_thread(m);
    for (std::size_t t = 0; t < waiting.size(); ++t) waiting[t] += of_pattern[t];
  }
  const std::vector<double> all = own_times([&](std::string_view name) {
    const std::size_t m = report.find_metric(name);
    return m == kNone ? std::vector<double>() : report.by_thread(m);
  });
  Efficiency e;
  e.run_time = *std::max_element(all.begin(), all.end());
  const auto longest = std::max_element(computing.begin(), computing.end());
  if (!(e.run_time > 0) || !(*longest > 0)) return std::nullopt;
  const double waited = waiting[static_cast<std::size_t>(longest - computing.begin())];
  e.load_balance = std::accumulate(computing.begin(), computing.end(), 0.0) /
                   static_cast<double>(workers) / *longest;
  e.serialisation = *longest / (*longest + waited);
  e.transfer = std::min(1.0, (*longest + waited) / e.run_time);
  return e;
}

std::vector<EfficiencyRow> efficiency_rows(const Efficiency& e) {
  return {
      {0, "parallel efficiency", "time spent computing, of the time of all processes",
       e.parallel()},
      {1, "load balance", "mean computing time of a process, of the longest", e.load_balance},
      {1, "communication", "computing time of the busiest process, of the run time",
       e.communication()},
      {2, "serialisation", "what is not lost to dependencies", e.serialisation},
      {2, "transfer", "what other time in MPI leaves of it", e.transfer},
  };
}

}  // namespace kojak::expert
