// Runs every tests/cases/*.case: a text trace, then the severities that its report must have.
//
// After the line `--- severities` each line is `metric callpath location value`; the call path is
// region names joined by '/'. What a named metric has beyond the listed values must be 0, and so
// must every waiting pattern that is not named at all. `finding N text` asks for a row of the
// findings table. `wait metric location seconds by location time` is a wait and whose call ended it
// when (`by nobody`: no call did); a metric that is named so has these waits and no others.
// Comments begin with #. On every trace run the cross-checks;
// metamorphic_cases_test.cc runs the relations between a trace and a changed one.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/patterns/catalogue.h"
#include "tests/support/cross_checks.h"

namespace kojak::expert {
namespace {

namespace fs = std::filesystem;
constexpr double kTolerance = 1e-9;

struct Case {
  std::string trace;
  std::map<std::string, std::map<std::pair<std::string, std::uint32_t>, double>> severities;
  std::vector<std::pair<std::uint64_t, std::string>> findings;
  std::map<std::string, std::vector<std::string>> waits;  // by metric: "location seconds by ..."
};

std::string wait_line(std::uint32_t location, double seconds, const std::string& by) {
  std::ostringstream line;
  line << location << ' ' << seconds << " by " << by;
  return line.str();
}
std::string by_line(std::uint32_t location, double time) {
  std::ostringstream line;
  line << location << ' ' << time;
  return line.str();
}

Case read_case(const fs::path& path) {
  Case c;
  std::ifstream in(path);
  bool severities = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "--- severities") {
      severities = true;
    } else if (!severities) {
      c.trace += line + '\n';
    } else {
      std::istringstream words(line.substr(0, line.find('#')));
      std::string first;
      if (!(words >> first)) continue;
      if (first == "finding") {
        std::uint64_t count = 0;
        std::string text;
        words >> count >> std::ws;
        std::getline(words, text);
        text.erase(text.find_last_not_of(' ') + 1);
        c.findings.emplace_back(count, text);
        continue;
      }
      if (first == "wait") {
        std::string metric, by, who;
        std::uint32_t location = 0;
        double seconds = 0, time = 0;
        if (!(words >> metric >> location >> seconds >> by >> who) || by != "by" ||
            (who != "nobody" && !(words >> time))) {
          throw std::runtime_error(path.string() + ": not understood: " + line);
        }
        if (who != "nobody") who = by_line(static_cast<std::uint32_t>(std::stoul(who)), time);
        c.waits[metric].push_back(wait_line(location, seconds, who));
        continue;
      }
      std::string call_path;
      std::uint32_t location = 0;
      double value = 0;
      if (!(words >> call_path >> location >> value)) {
        throw std::runtime_error(path.string() + ": not understood: " + line);
      }
      c.severities[first][{call_path, location}] += value;
    }
  }
  if (!severities) throw std::runtime_error(path.string() + " has no severities");
  return c;
}

struct Result {
  support::Cube cube;
  std::vector<std::uint32_t> thread_locations;
  std::vector<Finding> findings;
  std::vector<Wait> waits;
  std::vector<std::uint32_t> locations;  // identifiers by dense number
  std::vector<std::string> faults;       // of the waits
  std::vector<std::string> cause_faults;
};

// What holds of every wait: it lies within its call, ends when somebody else's call ends it, is no
// longer than from its begin to its end, and all of a metric at one place add up to its severity.
std::vector<std::string> faults_of(const std::vector<Wait>& waits, const Report& report) {
  std::vector<std::string> faults;
  std::map<std::tuple<MetricIndex, CallPathIndex, LocationIndex>, double> sums;
  for (const Wait& w : waits) {
    const std::string name(all_metrics()[w.metric].name);
    sums[{w.metric, w.call_path, w.location}] += w.waiting.value;
    if (!(w.enter <= w.begin && w.begin < w.end && w.end <= w.exit)) {
      faults.push_back(name + " outside of its call");
    }
    if ((w.end - w.begin).value < w.waiting.value - kTolerance) {
      faults.push_back(name + " longer than its times");
    }
    if (w.ended_by.known() && w.ended_by.location == w.location) {
      faults.push_back(name + " waits for itself");
    }
  }
  std::vector<double> row(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    if (node.metric.kind != Metric::Kind::kPattern || node.metric.unit != Unit::kSeconds) continue;
    if (node.metric.name == OmpIdleThreads::kMetric.name) continue;  // in no call
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      const CallPathIndex path = report.call_paths()[c].index;
      if (path == kOnlyNamed) continue;
      if (!report.row(m, c, row)) std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t t = 0; t < row.size(); ++t) {
        const double sum = sums[{node.own.front(), path, report.thread_column(t)}];
        if (std::abs(row[t] - sum) > kTolerance) {
          faults.push_back(std::string(node.metric.name) + " is not the sum of its waits");
        }
      }
    }
  }
  return faults;
}

// A wait that is neither a part of another nor time in which nobody is waited for.
bool has_causes(MetricIndex metric) {
  const Metric& m = all_metrics()[metric];
  if (m.name == Polling::kMetric.name) return true;
  if (m.nobody_awaited || m.name == IdleDispatcher::kMetric.name) return false;
  const auto parent = std::find_if(all_metrics().begin(), all_metrics().end(),
                                   [&](const Metric& p) { return p.name == m.parent; });
  return parent->kind != Metric::Kind::kPattern;
}
// What holds of all root causes: with what is unexplained they add up to all waiting, none is
// negative, and the critical path is as long as the run.
std::vector<std::string> faults_of(const RootCauses& found, const std::vector<Wait>& waits) {
  std::vector<std::string> faults;
  double all = 0, costs = found.unexplained, path = 0;
  for (const Wait& w : waits) {
    if (has_causes(w.metric)) all += w.waiting.value;
  }
  for (const RootCause& cause : found.causes) {
    double sum = 0;
    for (const CostOfPattern& p : cause.patterns) {
      sum += p.short_term + p.long_term;
      if (!has_causes(p.metric)) faults.push_back("the cost of a part of another wait");
    }
    if (std::abs(sum - cause.seconds) > kTolerance) faults.push_back("patterns of a cause");
    if (!(cause.seconds > 0) || !(cause.longer > 0)) faults.push_back("a cause of nothing");
    costs += cause.seconds;
  }
  for (const PathShare& share : found.critical_path) path += share.seconds;
  const auto compare = [&](const char* what, double a, double b) {
    if (std::abs(a - b) > kTolerance) {
      faults.push_back(std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
    }
  };
  compare("waits", found.waits, all);
  double divided = 0;
  for (const WaitsAt& w : found.waits_at) divided += w.direct + w.indirect;
  compare("direct and indirect waits", divided, found.waits);
  compare("costs", costs, found.waits);
  compare("critical path", path, found.path_length);
  return faults;
}

// The whole way: text, trace file, analysis, report file, and back.
Result run(const std::string& trace_text, std::vector<std::byte>* bytes = nullptr,
           bool root_causes = false) {
  auto made = text_to_trace(trace_text, "case");
  if (!made) throw std::runtime_error(made.error().message());
  auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "case");
  if (!trace) throw std::runtime_error(trace.error().message());
  Result result;
  AnalysisOptions options;
  options.root_causes = root_causes;
  WaitList list;
  options.waits = &list;
  const Report report = analyse(*trace, options);
  result.waits = std::move(list.waits);
  result.faults = faults_of(result.waits, report);
  if (report.root_causes()) result.cause_faults = faults_of(*report.root_causes(), result.waits);
  for (std::uint32_t i = 0; i < trace->location_count(); ++i) {
    result.locations.push_back(raw(trace->location(i)));
  }
  std::string folder = (fs::temp_directory_path() / "kojak-case-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const fs::path path = fs::path(folder) / "case.cube";
  const Status written = write_cube(report, path, {.doc_url = "file:///docs/"});
  if (!written.ok()) throw std::runtime_error(written.error().message());
  result.cube = support::read_cube(path);
  fs::remove_all(folder);
  for (std::size_t t = 0; t < report.threads(); ++t) {
    result.thread_locations.push_back(raw(report.thread_location(t)));
  }
  result.findings = report.findings();
  if (bytes != nullptr) *bytes = std::move(*made);
  return result;
}

// What a report holds of one metric, rows of equal path together.
std::map<std::pair<std::string, std::uint32_t>, double> case_values(const Result& result,
                                                                    const std::string& metric) {
  std::map<std::pair<std::string, std::uint32_t>, double> values;
  const int m = result.cube.find_metric(metric);
  if (m < 0) throw std::runtime_error("the report has no metric " + metric);
  const auto rows = result.cube.rows.find(m);
  if (rows == result.cube.rows.end()) return values;
  for (const auto& [cnode, row] : rows->second) {
    for (std::size_t t = 0; t < row.size(); ++t) {
      if (row[t] == 0) continue;
      values[{result.cube.cnodes[static_cast<std::size_t>(cnode)].path,
              result.thread_locations[t]}] += row[t];
    }
  }
  return values;
}

class Cases : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { case_ = read_case(fs::path(KOJAK_CASES_DIR) / (GetParam() + ".case")); }
  Case case_;
};

TEST_P(Cases, HaveTheirSeverities) {
  const Result result = run(case_.trace);
  for (const auto& [metric, expected] : case_.severities) {
    auto found = case_values(result, metric);
    for (const auto& [where, value] : expected) {
      EXPECT_NEAR(found[where], value, kTolerance)
          << metric << " at " << where.first << ", location " << where.second;
      found.erase(where);
    }
    for (const auto& [where, value] : found) {
      EXPECT_NEAR(value, 0, kTolerance)
          << metric << " at " << where.first << ", location " << where.second << " is not expected";
    }
  }
}

TEST_P(Cases, WaitNowhereElse) {
  const Result result = run(case_.trace);
  int patterns = 0;
  for (const support::CubeMetric& metric : result.cube.metrics) {
    if (metric.uom != "sec" || case_.severities.count(metric.uniq_name) != 0) continue;
    const auto described =
        std::find_if(all_metrics().begin(), all_metrics().end(),
                     [&](const Metric& m) { return m.name == metric.uniq_name; });
    ASSERT_NE(described, all_metrics().end());
    if (described->kind != Metric::Kind::kPattern) continue;
    ++patterns;
    for (const auto& [where, value] : case_values(result, metric.uniq_name)) {
      EXPECT_NEAR(value, 0, kTolerance) << metric.uniq_name << " at " << where.first
                                        << ", location " << where.second << " is not expected";
    }
  }
  EXPECT_GT(patterns, 0);
}

TEST_P(Cases, HaveTheirFindings) {
  const Result result = run(case_.trace);
  for (const auto& wanted : case_.findings) {
    const std::uint64_t count = wanted.first;
    const std::string& text = wanted.second;
    const bool found =
        std::any_of(result.findings.begin(), result.findings.end(),
                    [&](const Finding& f) { return f.what == text && f.count == count; });
    EXPECT_TRUE(found) << count << " x " << text;
  }
  // Nothing is suspect in a case that asks for no finding.
  if (case_.findings.empty()) {
    for (const Finding& f : result.findings) {
      EXPECT_NE(f.severity, Finding::Severity::kSuspect) << f.count << " x " << f.what;
    }
  }
}

TEST_P(Cases, SayWhomTheyWaitedFor) {
  const Result result = run(case_.trace);
  EXPECT_EQ(result.faults, std::vector<std::string>{});
  std::map<std::string, std::vector<std::string>> found;
  for (const Wait& w : result.waits) {
    const std::string by =
        w.ended_by.known() ? by_line(result.locations[w.ended_by.location], w.ended_by.time.value)
                           : "nobody";
    found[std::string(all_metrics()[w.metric].name)].push_back(
        wait_line(result.locations[w.location], w.waiting.value, by));
  }
  for (auto& [metric, expected] : case_.waits) {
    std::sort(expected.begin(), expected.end());
    std::sort(found[metric].begin(), found[metric].end());
    EXPECT_EQ(found[metric], expected) << metric;
  }
}

TEST_P(Cases, PassTheCrossChecks) {
  std::vector<std::byte> bytes;
  const Result result = run(case_.trace, &bytes);
  EXPECT_EQ(support::cross_checks(result.cube, bytes), std::vector<std::string>{});
}

TEST_P(Cases, HaveCausesForAllTheirWaiting) {
  std::vector<std::byte> bytes;
  const Result result = run(case_.trace, &bytes, true);
  EXPECT_EQ(result.cause_faults, std::vector<std::string>{});
  EXPECT_EQ(support::cross_checks(result.cube, bytes), std::vector<std::string>{});
}

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(KOJAK_CASES_DIR)) {
    if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, Cases, ::testing::ValuesIn(all_cases()),
                         [](const auto& one) { return one.param; });

TEST(CrossChecks, SeeALostSecond) {
  auto bytes = text_to_trace("ENTER lid=0 time=1 region=main\nEXIT lid=0 time=4\n");
  ASSERT_TRUE(bytes.ok());
  const Result result = run("ENTER lid=0 time=1 region=main\nEXIT lid=0 time=3\n");
  EXPECT_EQ(support::check_time(result.cube, *bytes).size(), 1u);
}

}  // namespace
}  // namespace kojak::expert
