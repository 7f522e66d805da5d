// The call tree of reports: where functions stand that are known from call sites only, and how
// trees as deep as recursion makes them are named and written.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "expert/cube/writer.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/report.h"
#include "tests/support/cube_grammar.h"
#include "tests/support/temp_dir.h"

namespace kojak::expert {
namespace {

// Call trees of programs whose functions are known from call sites only. Two locations: the first
// and the second thread of one process.
struct CallTreeFixture {
  Definitions defs;
  SeverityStore store{kAllMetrics, 2};
  std::vector<CallPath> paths;
  std::map<std::string, RegionId> regions;

  CallTreeFixture() {
    defs.locations.set(LocationId{0}, {MachineId{0}, NodeId{0}, ProcessId{0}, ThreadId{0}});
    defs.locations.set(LocationId{1}, {MachineId{0}, NodeId{0}, ProcessId{0}, ThreadId{1}});
  }
  RegionId region(const std::string& name, std::uint8_t type = 1) {
    const auto id = static_cast<RegionId>(static_cast<std::uint32_t>(regions.size()));
    const auto [entry, added] = regions.try_emplace(name, id);
    if (added) {
      RegionDef def;
      def.name = name;
      def.type = type;
      defs.regions.set(id, def);
    }
    return entry->second;
  }
  // A recorded call, visited once by this location; `caller` empty: no call site.
  std::size_t call(std::size_t parent, const std::string& name, const std::string& caller = "",
                   LocationIndex location = 0, std::uint8_t type = 1) {
    CallSiteId site = absent<CallSiteId>();
    if (!caller.empty()) {
      site = static_cast<CallSiteId>(static_cast<std::uint32_t>(paths.size()));
      defs.call_sites.set(site, {FileId{0}, Line{7}, region(name), region(caller)});
    }
    store.add(metric_index<Visits>(), static_cast<CallPathIndex>(paths.size()), location, 1);
    paths.push_back({region(name, type), site, parent});
    return paths.size() - 1;
  }
  std::vector<std::string> names() {
    const Report report(defs, {LocationId{0}, LocationId{1}},
                        metrics_where([](Needs) { return true; }), paths, std::move(store), {});
    std::vector<std::string> found;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      found.push_back(report.call_path_name(c));
    }
    return found;
  }
};
constexpr std::uint8_t kByHand = 3;  // EPILOG's number of regions of the user
using Names = std::vector<std::string>;

TEST(CallTree, MainStandsAboveARegionOfTheUserThatItEncloses) {
  CallTreeFixture f;
  const std::size_t root = f.call(kNone, "prog");
  const std::size_t phase = f.call(root, "phase one", "", 0, kByHand);
  f.call(phase, "MPI_Barrier", "main");
  EXPECT_EQ(f.names(), (Names{"prog", "prog / main", "prog / main / phase one",
                              "prog / main / phase one / MPI_Barrier"}));
}

TEST(CallTree, MainStandsAboveTheFunctionsThatItCalls) {
  CallTreeFixture f;
  const std::size_t root = f.call(kNone, "prog");
  f.call(root, "MPI_Init", "main");
  f.call(root, "MPI_Put", "exchange");
  f.call(root, "MPI_Get", "exchange");
  EXPECT_EQ(f.names(),
            (Names{"prog", "prog / main", "prog / main / MPI_Init", "prog / main / exchange",
                   "prog / main / exchange / MPI_Put", "prog / main / exchange / MPI_Get"}));
}

// `exchange` may have begun the region, or may be called in it: neither is said.
TEST(CallTree, AnyOtherCallerOfACallInARegionOfTheUserStandsNowhere) {
  CallTreeFixture f;
  const std::size_t root = f.call(kNone, "prog");
  const std::size_t phase = f.call(root, "phase", "", 0, kByHand);
  f.call(phase, "MPI_Put", "exchange");
  const std::size_t inner = f.call(phase, "recorded");
  f.call(inner, "MPI_Get", "other");
  EXPECT_EQ(f.names(), (Names{"prog", "prog / phase", "prog / phase / MPI_Put",
                              "prog / phase / recorded", "prog / phase / recorded / MPI_Get"}));
}

TEST(CallTree, OtherThreadsDoNotBeginInMain) {
  CallTreeFixture f;
  const std::size_t root = f.call(kNone, "prog");
  f.call(root, "MPI_Init", "main");
  f.call(root, "MPI_Send", "worker", 1);
  EXPECT_EQ(f.names(), (Names{"prog", "prog / main", "prog / main / MPI_Init", "prog / worker",
                              "prog / worker / MPI_Send"}));
}

TEST(CallTree, ARecordedMainStaysWhereItIs) {
  CallTreeFixture f;
  const std::size_t root = f.call(kNone, "prog");
  const std::size_t main = f.call(root, "main");
  f.call(main, "MPI_Init", "main");
  f.call(root, "MPI_Finalize", "cleanup");
  EXPECT_EQ(f.names(), (Names{"prog", "prog / main", "prog / main / MPI_Init", "prog / cleanup",
                              "prog / cleanup / MPI_Finalize"}));
}

// A function of the program, found in samples: below a caller that calls it at that line (0: not
// known).
struct TwinsFixture : CallTreeFixture {
  TwinsFixture() { defs.files.set(FileId{0}, "a.c"); }
  RegionId function(const std::string& name) {
    RegionDef def = *defs.regions.find(region(name));
    def.file = "a.c";
    def.begin = Line{20};
    defs.regions.set(region(name), def);
    return region(name);
  }
  std::size_t sampled(std::size_t parent, const std::string& name, const std::string& caller,
                      std::uint32_t line, double samples) {
    const auto site = static_cast<CallSiteId>(static_cast<std::uint32_t>(1000 + paths.size()));
    defs.call_sites.set(site, {FileId{0}, line == 0 ? absent<Line>() : Line{line}, function(name),
                               function(caller)});
    store.add(metric_index<Execution>(), static_cast<CallPathIndex>(paths.size()), 0, samples);
    paths.push_back({region(name), site, parent});
    return paths.size() - 1;
  }
  // "prog / main / work a.c:5: 3" with its own part of the time, of what has some.
  Names with_values(const std::map<RegionId, std::string>& stretches = {}) {
    const Report report(defs, {LocationId{0}, LocationId{1}},
                        metrics_where([](Needs) { return true; }), paths, std::move(store), {}, {},
                        {}, {}, stretches);
    Names found;
    std::vector<double> values(report.threads());
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      const bool any = report.row(report.find_metric("execution"), c, values);
      const std::string site = report.call_site(c);
      found.push_back(report.call_path_name(c) + (site.empty() ? "" : " called at " + site) +
                      (any ? ": " + std::to_string(static_cast<int>(values[0])) : ""));
    }
    const test::TempDir folder;
    EXPECT_TRUE(write_cube(report, folder.file("a.cube"), {.doc_url = "d"}).ok());
    EXPECT_EQ(support::check_cube_grammar(folder.file("a.cube")), "");
    return found;
  }
};

// work calls MPI_Barrier, whose call site names it and no more; samples know where it was called.
TEST(CallTree, AFunctionThatComputesAndCallsStandsOnce) {
  TwinsFixture f;
  const std::size_t root = f.call(kNone, "prog");
  f.call(root, "MPI_Init", "main");
  f.function("work");
  f.call(root, "MPI_Barrier", "work");
  const std::size_t work = f.sampled(root, "work", "main", 5, 3);
  f.sampled(work, "inner", "work", 22, 4);
  EXPECT_EQ(f.with_values(),
            (Names{"prog", "prog / main", "prog / main a.c:7 / MPI_Init called at a.c:7",
                   "prog / main a.c:5 / work called at a.c:5: 3",
                   "prog / main a.c:5 / work a.c:7 / MPI_Barrier called at a.c:7",
                   "prog / main a.c:5 / work a.c:22 / inner called at a.c:22: 4"}));
}
// Two places of the code in one line are one to CUBE, with all below; another line is another call.
TEST(CallTree, CallsInOneLineAreOne) {
  TwinsFixture f;
  const std::size_t root = f.call(kNone, "prog");
  const std::size_t first = f.sampled(root, "work", "main", 5, 1);
  const std::size_t other = f.sampled(root, "work", "main", 6, 10);
  const std::size_t second = f.sampled(root, "work", "main", 5, 2);
  f.sampled(first, "inner", "work", 22, 100);
  f.sampled(second, "inner", "work", 22, 200);
  f.sampled(other, "inner", "work", 22, 1000);
  EXPECT_EQ(f.with_values(),
            (Names{"prog", "prog / main", "prog / main a.c:5 / work called at a.c:5: 3",
                   "prog / main a.c:5 / work a.c:22 / inner called at a.c:22: 300",
                   "prog / main a.c:6 / work called at a.c:6: 10",
                   "prog / main a.c:6 / work a.c:22 / inner called at a.c:22: 1000"}));
}
// By which of two lines the call without one came is not known: the function stands once, without.
TEST(CallTree, AFunctionCalledAtSeveralLinesAndAtNone) {
  TwinsFixture f;
  const std::size_t root = f.call(kNone, "prog");
  f.sampled(root, "work", "main", 5, 1);
  f.sampled(root, "work", "main", 6, 2);
  f.sampled(root, "work", "main", 0, 4);
  EXPECT_EQ(f.with_values(), (Names{"prog", "prog / main", "prog / main / work: 7"}));
}
// What is computed between calls at the same lines is one thing, whichever calls they were.
TEST(CallTree, StretchesOfOneNameAreOne) {
  TwinsFixture f;
  const std::size_t root = f.call(kNone, "prog");
  const RegionId a{500}, b{501};
  for (const RegionId stretch : {a, b}) {
    f.store.add(metric_index<Execution>(), static_cast<CallPathIndex>(f.paths.size()), 0, 2);
    f.paths.push_back({stretch, absent<CallSiteId>(), root});
  }
  EXPECT_EQ(f.with_values({{a, "between x and y"}, {b, "between x and y"}}),
            (Names{"prog", "prog / between x and y: 4"}));
}

TEST(CallTree, ManyNestedCallsNeedNoStackAndNamesOfTheirEnds) {
  CallTreeFixture f;
  constexpr std::size_t kCalls = 300'000;
  std::size_t at = f.call(kNone, "prog");
  const RegionId recursive = f.region("f");
  for (std::size_t i = 1; i < kCalls; ++i) {
    f.paths.push_back({recursive, absent<CallSiteId>(), at});
    at = f.paths.size() - 1;
  }
  const Report report(f.defs, {LocationId{0}}, metrics_where([](Needs) { return true; }), f.paths,
                      SeverityStore(kAllMetrics, 1), {});
  ASSERT_EQ(report.call_paths().size(), kCalls);
  EXPECT_EQ(report.call_paths().back().depth, kCalls - 1);
  const std::string name = report.call_path_name(kCalls - 1);
  EXPECT_TRUE(name.starts_with("prog / f / f")) << name;
  EXPECT_NE(name.find(" / ... 299800 more ... / f"), std::string::npos) << name;
  const test::TempDir folder;
  const std::string path = folder.file("a.cube");
  ASSERT_TRUE(write_cube(report, path, {.doc_url = "d"}).ok());
  EXPECT_EQ(support::check_cube_grammar(path), "");
  // Start and end tag with their numbers, and blanks up to a bound.
  EXPECT_LT(std::filesystem::file_size(path), kCalls * 160);
}

}  // namespace
}  // namespace kojak::expert
