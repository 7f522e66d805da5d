#include "tools/kojak/series.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "expert/output/json.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/aggregate.h"
#include "expert/profile/run_time.h"

namespace kojak::run {
namespace {

using expert::Metric;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Computing is what execution has outside of all that stands below it: seconds of each location.
std::vector<double> computing_of(const cube::Report& report) {
  const std::size_t execution = report.find_metric(expert::Execution::kMetric.name);
  if (execution == cube::kNone) return {};
  std::vector<double> computing = cube::location_sums(report, execution);
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    if (report.metrics[m].parent != execution) continue;
    const std::vector<double> below = cube::location_sums(report, m);
    for (std::size_t i = 0; i < computing.size(); ++i) computing[i] -= below[i];
  }
  return computing;
}

// As in expert/profile/efficiency.h.
std::optional<Efficiencies> efficiency_of(const cube::Report& report,
                                          const std::vector<double>& computing) {
  if (computing.empty()) return std::nullopt;
  const std::vector<double> times = expert::own_times([&](std::string_view name) {
    const std::size_t m = report.find_metric(name);
    return m == cube::kNone ? std::vector<double>() : cube::location_sums(report, m);
  });
  const double time = *std::max_element(times.begin(), times.end());
  const double longest = *std::max_element(computing.begin(), computing.end());
  if (!(longest > 0) || !(time > 0)) return std::nullopt;
  return Efficiencies{sum(computing) / static_cast<double>(computing.size()) / longest,
                      std::min(1.0, longest / time)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> found;
    for (const Metric& metric : expert::all_metrics()) {
      if (expert::is_wait(metric) && !metric.nobody_awaited && !metric.of_causes) {
        found.push_back({std::string(metric.name), std::string(metric.title)});
      }
    }
    return found;
  }();
  return all;
}

Result<Run> run_of(const cube::Report& report) {
  const std::size_t time = report.find_metric(expert::Time::kMetric.name);
  if (time == cube::kNone || report.locations() == 0) {
    return Error{ExitCode::kBadInput,
                 report.file,
                 std::nullopt,
                 "",
                 "",
                 "this report has no time of processes (metric time)",
                 "name reports of expert"};
  }
  Run run;
  run.file = report.file;
  run.locations = report.locations();
  for (const cube::SystemNode& node : report.system) {
    run.processes += node.kind == cube::SystemKind::kProcess;
  }
  const std::vector<double> times = cube::location_sums(report, time);
  run.time = *std::max_element(times.begin(), times.end());
  run.total = sum(times);
  const std::vector<double> computing = computing_of(report);
  run.computing = sum(computing);
  run.efficiency = efficiency_of(report, computing);
  for (const Pattern& pattern : patterns()) {
    const std::size_t metric = report.find_metric(pattern.name);
    run.waits.push_back(metric == cube::kNone ? 0 : cube::total(report, metric));
  }
  run.waiting = sum(run.waits);
  return run;
}

bool same_sizes(const std::vector<Run>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.processes == runs[0].processes && run.locations == runs[0].locations;
  });
}

std::vector<Regression> regressions(const std::vector<Run>& runs, double part) {
  std::vector<Regression> worse;
  const Run& last = runs.back();
  const auto before = [&](auto value) {
    std::vector<double> values;
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) values.push_back(value(runs[i]));
    return median(std::move(values));
  };
  const double time = before([](const Run& run) { return run.time; });
  const auto compare = [&](std::string name, std::string title, double old, double now) {
    if (now - old > part * time) worse.push_back({std::move(name), std::move(title), old, now});
  };
  compare("time", "Time", time, last.time);
  for (std::size_t p = 0; p < patterns().size(); ++p) {
    compare(patterns()[p].name, patterns()[p].title,
            before([p](const Run& run) { return run.each(run.waits[p]); }),
            last.each(last.waits[p]));
  }
  return worse;
}

double of_ideal(const Run& first, const Run& run, bool weak) {
  if (!(run.time > 0) || run.locations == 0) return 0;
  const double speedup = first.time / run.time;
  const double more = static_cast<double>(run.locations) / static_cast<double>(first.locations);
  return weak ? speedup : speedup / more;
}

std::string series_json(const std::vector<Run>& runs, bool weak, std::optional<double> part,
                        const std::vector<Regression>& worse) {
  html::Json json;
  json.begin_object().member("format", "kojak.diff").member("version", 1);
  json.member("scaling", weak ? "weak" : "strong").key("runs").begin_array();
  for (const Run& run : runs) {
    json.begin_object()
        .member("report", run.file)
        .member("processes", run.processes)
        .member("locations", run.locations)
        .member("time", run.time)
        .member("of_ideal", of_ideal(runs[0], run, weak))
        .member("waiting", run.waiting);
    if (run.efficiency) {
      json.key("efficiency")
          .begin_object()
          .member("parallel", run.efficiency->parallel())
          .member("load_balance", run.efficiency->load_balance)
          .member("communication", run.efficiency->communication)
          .end_object();
    }
    json.key("waits").begin_object();
    for (std::size_t p = 0; p < patterns().size(); ++p) {
      if (run.waits[p] != 0) json.member(patterns()[p].name, run.waits[p]);
    }
    json.end_object().end_object();
  }
  json.end_array();
  if (part) {
    json.member("fail_above", 100 * *part).key("regressions").begin_array();
    for (const Regression& r : worse) {
      json.begin_object()
          .member("metric", r.metric)
          .member("title", r.title)
          .member("before", r.before)
          .member("after", r.after)
          .end_object();
    }
    json.end_array();
  }
  return json.end_object().text() + '\n';
}

}  // namespace kojak::run
