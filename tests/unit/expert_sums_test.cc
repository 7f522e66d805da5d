// Sums do not depend on the order of adding: of each trace of tests/cases the waits are added in
// random orders and in two halves, and all reports' times are whole ticks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

namespace fs = std::filesystem;

struct SummedCase {
  std::vector<Wait> waits;
  std::size_t locations = 0, call_paths = 0;
  std::map<std::tuple<MetricIndex, CallPathIndex, LocationIndex>, Ticks> severities;
  std::map<std::uint64_t, std::vector<Partner>> partners;
  std::string odd;  // a time of the report that is not whole
};

SummedCase run_of(const fs::path& path) {
  std::ifstream in(path);
  std::string trace;
  for (std::string line; std::getline(in, line) && line != "--- severities";) trace += line + '\n';
  const auto made = text_to_trace(trace, "case");
  if (!made) throw std::runtime_error(made.error().message());
  auto opened = earl::Trace::from(memory_source(made->data(), made->size()), "case");
  if (!opened) throw std::runtime_error(opened.error().message());
  SummedCase run;
  AnalysisOptions options;
  options.root_causes = true;
  WaitList list;
  options.waits = &list;
  const Report report = analyse(*opened, options);
  run.waits = std::move(list.waits);
  run.locations = report.threads();
  std::vector<double> row(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    if (node.metric.unit != Unit::kSeconds) continue;
    const bool whole_tree = node.own.size() == 1;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, row)) continue;
      const CallPathNode& at = report.call_paths()[c];
      for (std::size_t t = 0; t < row.size(); ++t) {
        const double ticks = row[t] * kTicksPerSecond;
        if (ticks != std::floor(ticks)) run.odd = std::string(node.metric.name);
        if (whole_tree && at.index != kOnlyNamed && at.also.empty()) {
          run.severities[{node.own.front(), at.index, report.thread_column(t)}] =
              static_cast<Ticks>(ticks);
        }
      }
    }
  }
  for (const auto& [place, partners] : report.waits().partners) run.partners[place] = partners;
  return run;
}

// The cells of the waits, as they are added one after the other.
using Cells = std::map<std::tuple<MetricIndex, CallPathIndex, LocationIndex>, std::int64_t>;
Cells cells_of(const SeverityStore& store, const std::vector<Wait>& waits) {
  Cells cells;
  for (const Wait& w : waits) {
    cells[{w.metric, w.call_path, w.location}] = store.whole_row(w.metric, w.call_path)[w.location];
  }
  return cells;
}
Cells added(const std::vector<Wait>& waits, std::size_t locations) {
  SeverityStore store(kAllMetrics, locations);
  for (const Wait& w : waits) store.add(w.metric, w.call_path, w.location, w.waiting.value);
  return cells_of(store, waits);
}

using Partners = std::map<std::tuple<std::uint64_t, LocationIndex, CallPathIndex, bool>, Ticks>;
Partners partners_of(const std::vector<Wait>& waits, std::size_t locations) {
  Instances instances(1, locations);
  for (const Wait& w : waits) instances.on_wait(w);
  Partners found;
  for (const auto& [place, partners] : instances.finish().partners) {
    for (const Partner& p : partners) {
      found[{place, p.location, p.call_path, p.at_exit}] = p.waited.ticks();
    }
  }
  return found;
}

class Sums : public testing::TestWithParam<fs::path> {};

TEST_P(Sums, DoNotDependOnTheOrder) {
  const SummedCase run = run_of(GetParam());
  EXPECT_EQ(run.odd, "");
  const Cells once = added(run.waits, run.locations);
  // What the analysis has at these places.
  for (const auto& [where, ticks] : once) {
    const auto there = run.severities.find(where);
    if (there == run.severities.end()) continue;  // not shown, or of several call paths
    EXPECT_EQ(there->second, ticks) << all_metrics()[std::get<0>(where)].name;
  }
  const Partners partners = partners_of(run.waits, run.locations);
  std::vector<Wait> waits = run.waits;
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(waits.begin(), waits.end(), random);
    ASSERT_EQ(added(waits, run.locations), once);
    ASSERT_EQ(partners_of(waits, run.locations), partners);
  }
  const auto half = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  Cells sum = added({waits.begin(), half}, run.locations);
  for (const auto& [where, ticks] : added({half, waits.end()}, run.locations)) sum[where] += ticks;
  EXPECT_EQ(sum, once);
}

std::vector<fs::path> cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(KOJAK_CASES_DIR)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Cases, Sums, testing::ValuesIn(cases()), [](const auto& of) {
  std::string name = of.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

// What lies end to end adds up to the whole, also where time is counted from 1970 on.
TEST(Moments, AddUpWhereverTimeBegins) {
  constexpr double kSince1970 = 1795910400;  // 2^-22 s apart there
  for (const double begin : {0.0, 1000.0, kSince1970}) {
    const double times[] = {begin, begin + 0.25, begin + 1.1, begin + 3};
    Ticks sum = 0;
    for (int i = 0; i < 3; ++i) sum += earl::ticks_between(times[i], times[i + 1]);
    EXPECT_EQ(sum, 3 * (Ticks{1} << 40)) << begin;
    EXPECT_EQ(earl::ticks_between(begin, begin + 0.25), Ticks{1} << 38) << begin;
  }
  EXPECT_EQ(earl::ticks_between(5, 5), 0);
  EXPECT_EQ(earl::ticks_between(-0.5, 0.5), Ticks{1} << 40);
  // 97 days and more are the limit, and so is what is no number.
  constexpr Ticks kMost = std::numeric_limits<Ticks>::max();
  EXPECT_EQ(earl::ticks_between(0, 0x1p23 - 1), kMost - (Ticks{1} << 40) + 1);
  EXPECT_EQ(earl::ticks_between(0, 0x1p23), kMost);
  EXPECT_EQ(earl::ticks_between(0, std::nan("")), kMost);
  EXPECT_EQ(earl::sum_of(Ticks{1} << 62, Ticks{1} << 62), kMost);
  EXPECT_EQ(earl::sum_of(3, -5), -2);
}

// 0.1 s cannot be written exactly: as doubles ten thousand of them are not 1000 s.
TEST(SumsOf, ManyEqualTimesAreTheirProduct) {
  SeverityStore store(kAllMetrics, 1);
  for (int i = 0; i < 10'000; ++i) store.add(metric_index<Execution>(), 0, 0, 0.1);
  EXPECT_EQ(store.whole_row(metric_index<Execution>(), 0)[0], 10'000 * in_ticks(0.1));
}

TEST(SumsOf, StayAtTheLimitAndAreCounted) {
  SeverityStore store(kAllMetrics, 1);
  constexpr MetricIndex kTime = metric_index<Execution>();
  const double days = 24 * 3600;
  store.add(kTime, 0, 0, 90 * days);
  EXPECT_EQ(store.limited(), 0u);
  store.add(kTime, 0, 0, 90 * days);  // 180 days: 2^63 ticks are 97
  EXPECT_EQ(store.limited(), 1u);
  EXPECT_NEAR(store.value(kTime, store.whole_row(kTime, 0)[0]), 97.09 * days, 0.01 * days);
  store.add(kTime, 1, 0, 200 * days);
  EXPECT_EQ(store.limited(), 2u);
  store.add(kTime, 2, 0, std::nan(""));
  EXPECT_EQ(store.left_out(), 1u);
  EXPECT_TRUE(store.whole_row(kTime, 2).empty());
}

TEST(SumsOf, CountersThatNeedNotBeWholeKeepTheirFractions) {
  SeverityStore store(kAllMetrics, 1);
  const MetricIndex joules = store.add_metric(SeverityStore::Cells::kFractions);
  for (int i = 0; i < 8; ++i) store.add(joules, 0, 0, 0.125);
  store.add(joules, 0, 0, -0.5);
  std::vector<Amount> sums(1);
  store.add_row_to(sums, joules, 0);
  EXPECT_EQ(store.value(joules, sums[0]), 0.5);  // 8 / 8 - 1 / 2
  EXPECT_TRUE(store.whole_row(joules, 0).empty());
}

// 0.3 s in three parts of a third each, and 1 s of which the parts are 0.7.
TEST(SumsOf, PartsOfACallAreTheWhole) {
  earl::Call call;
  call.enter = Seconds{0};
  call.exit = Seconds{1};
  const auto part = [](double begin, double end) {
    WaitPart p;
    p.when = {Seconds{begin}, Seconds{end}};
    return p;
  };
  const auto sum = [&](double severity, const std::vector<WaitPart>& parts) {
    TimeSum all;
    std::size_t count = 0;
    for_each_part(0, call, Seconds{severity}, parts, 1, [&](const Wait& w) {
      all.add(w.waiting.value);
      ++count;
    });
    return std::pair(all.ticks(), count);
  };
  EXPECT_EQ(sum(0.3, {part(0.1, 0.2), part(0.3, 0.4), part(0.5, 0.6)}),
            std::pair(in_ticks(0.3), std::size_t{3}));
  EXPECT_EQ(sum(1, {part(0.1, 0.2), part(0.3, 0.9)}), std::pair(in_ticks(1), std::size_t{3}));
}

}  // namespace
}  // namespace kojak::expert
