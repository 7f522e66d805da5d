// Two reports over the same trees: which metrics, call paths and locations are the same.
#include <gtest/gtest.h>

#include "cube_reports.h"
#include "expert/cube/difference.h"
#include "expert/cube/reader.h"
#include "expert/profile/aggregate.h"

namespace kojak {
namespace {

using cube::Difference;
using cube::Report;

Report read(const std::string& name, const std::string& text) {
  Result<Report> report = cube::read_report(test::write_file(name, text));
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : Report{};
}

// main with calls of f at the given lines, 1 s, 2 s, 3 s ... in each location.
std::string calls(const std::vector<int>& lines, int locations, const char* callee = "f") {
  std::string nodes = "<cnode id=\"0\" calleeId=\"0\">";
  std::string rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string id = std::to_string(i + 1);
    nodes += "<cnode id=\"" + id + "\" calleeId=\"1\" line=\"" + std::to_string(lines[i]) +
             "\" mod=\"a.c\"></cnode>";
    rows += "<row cnodeId=\"" + id + "\">";
    for (int l = 0; l < locations; ++l) rows += "\n" + id;
    rows += "\n</row>";
  }
  return test::report(test::metric(0, "time"),
                      test::region(0, "main") + test::region(1, callee) + nodes + "</cnode>",
                      test::system_of(locations), "<matrix metricId=\"0\">" + rows + "</matrix>");
}

TEST(CubeDifference, WhereOneHasMoreCallsOfAFunctionLinesCountFirst) {
  // Before: lines 10 (1 s) and 20 (2 s). After: lines 12 (1 s), 20 (2 s) and 30 (3 s): 20 is 20,
  // 12 has no line of its own and takes what is left, 10; 30 is new.
  const Difference d =
      cube::align(read("b.cube", calls({10, 20}, 1)), read("a.cube", calls({12, 20, 30}, 1)));
  ASSERT_EQ(d.before.call_nodes.size(), 4u);
  EXPECT_EQ(cube::call_path_sums(d.before, 0), (std::vector<double>{0, 1, 2, 0}));
  EXPECT_EQ(cube::call_path_sums(d.after, 0), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(d.before.call_nodes[3].line, 30);
  using In = Difference::In;
  EXPECT_EQ(d.call_nodes_in, (std::vector<In>{In::kBoth, In::kBoth, In::kBoth, In::kAfter}));
  EXPECT_TRUE(d.by_location);
}

TEST(CubeDifference, OfEquallyManyCallsTheFirstIsTheFirst) {
  // A line was added above both: 20 was 10 and 30 was 20. The report after has the later line
  // first: 30 (1 s), then 20 (2 s).
  const Difference d =
      cube::align(read("b.cube", calls({10, 20}, 1)), read("a.cube", calls({30, 20}, 1)));
  ASSERT_EQ(d.before.call_nodes.size(), 3u);
  EXPECT_EQ(cube::call_path_sums(d.before, 0), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(cube::call_path_sums(d.after, 0), (std::vector<double>{0, 2, 1}));
}

TEST(CubeDifference, PlacesInNamesDoNotCount) {
  EXPECT_EQ(cube::without_places("between MPI_Put a.c:3 and MPI_Win_fence a b.c:9"),
            "between MPI_Put and MPI_Win_fence a");
  for (const char* kept : {"f", "a.c:3", "ns::f(int)", "a:: 7", "omp parallel a.c:", "x :1", ""})
    EXPECT_EQ(cube::without_places(kept), kept);
  const Difference d =
      cube::align(read("b.cube", calls({10}, 1, "between MPI_Put a.c:3 and MPI_Put a.c:9")),
                  read("a.cube", calls({12}, 1, "between MPI_Put b.c:5 and MPI_Put b.c:11")));
  ASSERT_EQ(d.before.call_nodes.size(), 2u);
  EXPECT_EQ(cube::call_path_sums(d.after, 0), (std::vector<double>{0, 1}));
}

TEST(CubeDifference, ANewFunctionGetsACallPathOfItsOwn) {
  const Difference d =
      cube::align(read("b.cube", calls({10}, 1)), read("a.cube", calls({10}, 1, "g")));
  ASSERT_EQ(d.before.call_nodes.size(), 3u);
  EXPECT_EQ(d.before.call_path(1), "main / f");
  EXPECT_EQ(d.before.call_path(2), "main / g");
  EXPECT_EQ(cube::call_path_sums(d.before, 0), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(cube::call_path_sums(d.after, 0), (std::vector<double>{0, 0, 1}));
}

TEST(CubeDifference, TheRootMayHaveAnotherName) {
  std::string renamed = calls({10}, 1);
  renamed.replace(renamed.find("<name>main<"), 11, "<name>main_fixed<");
  const Difference d = cube::align(read("b.cube", calls({10}, 1)), read("a.cube", renamed));
  ASSERT_EQ(d.before.call_nodes.size(), 2u);
  EXPECT_EQ(d.after.call_path(1), "main / f");
  EXPECT_EQ(cube::call_path_sums(d.after, 0), (std::vector<double>{0, 1}));
}

TEST(CubeDifference, RunsOfDifferentSizeAreComparedAsAWhole) {
  const Difference d = cube::align(read("b.cube", calls({10}, 2)), read("a.cube", calls({10}, 4)));
  EXPECT_FALSE(d.by_location);
  EXPECT_EQ(d.before.locations(), 1u);
  EXPECT_EQ(cube::total(d.before, 0), 2);  // 2 locations of 1 s
  EXPECT_EQ(cube::total(d.after, 0), 4);
}

TEST(CubeDifference, MetricsOfBothReportsAreInDocumentOrder) {
  const std::string program = test::region(0, "main") + "<cnode id=\"0\" calleeId=\"0\"></cnode>";
  const auto with = [&](const std::string& metrics, const std::string& severity) {
    return test::report(metrics, program, test::system_of(1), severity);
  };
  // Before: time > (a), visits. After: time > (a, b), visits, bytes; b is 5.
  const Difference d = cube::align(
      read("b.cube", with(test::metric(0, "time", test::metric(1, "a")) + test::metric(2, "visits"),
                          "<matrix metricId=\"2\"><row cnodeId=\"0\">\n7\n</row></matrix>")),
      read("a.cube", with(test::metric(0, "time", test::metric(1, "a") + test::metric(2, "b")) +
                              test::metric(3, "visits") + test::metric(4, "bytes"),
                          "<matrix metricId=\"2\"><row cnodeId=\"0\">\n5\n</row></matrix>")));
  std::vector<std::string> names;
  for (const cube::Metric& metric : d.before.metrics) names.push_back(metric.name);
  EXPECT_EQ(names, (std::vector<std::string>{"time", "a", "b", "visits", "bytes"}));
  EXPECT_EQ(cube::totals(d.before), (std::vector<double>{0, 0, 0, 7, 0}));
  EXPECT_EQ(cube::totals(d.after), (std::vector<double>{0, 0, 5, 0, 0}));
}

TEST(CubeDifference, AReportHasNoDifferenceToItself) {
  const Result<Report> report = cube::read_report(std::string(KOJAK_REFERENCE_DIR) + "/fence.cube");
  ASSERT_TRUE(report) << report.error().message();
  const Difference d = cube::align(*report, *report);
  EXPECT_TRUE(d.by_location);
  EXPECT_EQ(d.before.call_nodes.size(), report->call_nodes.size());
  EXPECT_EQ(cube::totals(d.before), cube::totals(d.after));
  EXPECT_EQ(cube::totals(d.before), cube::totals(*report));
  for (const Difference::In in : d.call_nodes_in) EXPECT_EQ(in, Difference::In::kBoth);
  EXPECT_GT(cube::total(d.before, 0), 6.0);  // about 1.7 s on four processes
}

}  // namespace
}  // namespace kojak
