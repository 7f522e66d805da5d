#include "expert/sums/waiting_counters.h"

#include <algorithm>

#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

struct TimeCounter {
  std::string_view counter, name, title;
};
constexpr TimeCounter kTimeCounters[] = {
    {"PAPI_TOT_CYC", "PAPI_TOT_CYC_waiting", "PAPI_TOT_CYC while waiting"},
    {"PAPI_REF_CYC", "PAPI_REF_CYC_waiting", "PAPI_REF_CYC while waiting"},
    {"PAPI_TOT_INS", "PAPI_TOT_INS_waiting", "PAPI_TOT_INS while waiting"},
    {"perf::TASK-CLOCK", "perf::TASK-CLOCK_waiting", "perf::TASK-CLOCK while waiting"},
    {"perf::CPU-CLOCK", "perf::CPU-CLOCK_waiting", "perf::CPU-CLOCK while waiting"},
    {"ru_utime", "ru_utime_waiting", "ru_utime while waiting"},
};

// Waiting that is no part of other waiting, as a part of the time of its call.
bool claims_waiting(MetricIndex m) {
  const Metric& metric = kAllMetrics[m];
  return metric.kind == Metric::Kind::kPattern && metric.unit == Unit::kSeconds &&
         !metric.nobody_awaited && !metric.of_causes && !kPartOfPattern[m] &&
         m != metric_index<OmpIdleThreads>();
}

}  // namespace

void add_waiting_counters(SeverityStore& severities, std::vector<ReportMetric>& metrics,
                          std::size_t call_paths) {
  struct Found {
    MetricIndex counter, waiting;
  };
  std::vector<Found> found;
  // Each stands right behind its counter, for the tree is told from the top down.
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const TimeCounter* const known =
        std::find_if(std::begin(kTimeCounters), std::end(kTimeCounters),
                     [&](const TimeCounter& c) { return c.counter == metrics[i].metric.name; });
    if (known == std::end(kTimeCounters) || metrics[i].index < kMetrics) continue;
    Metric metric;
    metric.name = known->name;
    metric.title = known->title;
    metric.parent = known->counter;
    metric.unit = Unit::kOccurrences;
    metric.kind = Metric::Kind::kPattern;
    metric.summary = "What of it was counted while the call waited for others: an estimate.";
    metric.formula =
        "of each call path and thread: counter x waiting / time, where waiting is what all "
        "patterns claim";
    metric.meaning =
        "Counters are read when a call begins and ends, and not where its waiting ends. So it is "
        "taken that a call counts as much in each moment. Waiting that sleeps counts nothing, "
        "waiting that polls all the time as much as computing.";
    metric.fractions = true;
    found.push_back({metrics[i].index, severities.add_metric(SeverityStore::cells_of(metric))});
    const ReportMetric below{metric, found.back().waiting, metrics[i].shown};
    metrics.insert(metrics.begin() + static_cast<std::ptrdiff_t>(++i), below);
  }
  if (found.empty()) return;
  std::vector<Amount> time(severities.locations()), waiting = time, counted = time;
  for (CallPathIndex c = 0; c < call_paths; ++c) {
    std::fill(waiting.begin(), waiting.end(), 0);
    for (MetricIndex m = 0; m < kMetrics; ++m) {
      if (claims_waiting(m)) severities.add_row_to(waiting, m, c);
    }
    if (std::none_of(waiting.begin(), waiting.end(), [](Amount w) { return w > 0; })) continue;
    std::fill(time.begin(), time.end(), 0);
    for (MetricIndex m = 0; m < kMetrics; ++m) {
      if (kAllMetrics[m].own) severities.add_row_to(time, m, c);
    }
    for (const Found& f : found) {
      std::fill(counted.begin(), counted.end(), 0);
      severities.add_row_to(counted, f.counter, c);
      for (LocationIndex l = 0; l < counted.size(); ++l) {
        if (counted[l] == 0 || !(waiting[l] > 0) || !(time[l] > 0)) continue;
        const double share = static_cast<double>(waiting[l]) / static_cast<double>(time[l]);
        severities.add(f.waiting, c, l,
                       severities.value(f.counter, counted[l]) * std::min(1.0, share));
      }
    }
  }
}

}  // namespace kojak::expert
