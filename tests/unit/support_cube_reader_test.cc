// The reader of reports that other tests rely on, and the checks on reports: on small reports
// written here, and on the classic tools' reports of the reference programs.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/cube_reader.h"
#include "tests/support/report_checks.h"

namespace kojak::support {
namespace {

std::string report_file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::string metric(const std::string& id, const std::string& name, const std::string& uom,
                   const std::string& children) {
  return "<metric id=\"" + id + "\"><disp_name>" + name + "</disp_name><uniq_name>" + name +
         "</uniq_name><dtype>FLOAT</dtype><uom>" + uom + "</uom><url></url><descr></descr>" +
         children + "</metric>";
}

// Two processes; metrics time > mpi > {wait, rest}, visits; call paths main, main/MPI_Put (twice).
std::string report(const std::string& matrices) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"3.0\">\n"
         "<attr key=\"CUBE_CT_AGGR\" "
         "value=\"SUM\"/><doc><mirrors><murl>file:///doc/</murl></mirrors></doc>\n"
         "<metrics>" +
         metric("0", "time", "sec",
                metric("1", "mpi", "sec",
                       metric("2", "wait", "sec", "") + metric("3", "rest", "sec", ""))) +
         metric("4", "visits", "occ", "") +
         "</metrics>\n<program>"
         "<region id=\"0\" mod=\"a.c\" begin=\"-1\" end=\"-1\"><name>op&lt;int&gt; "
         "&amp;</name><url></url>"
         "<descr></descr></region>"
         "<region id=\"1\" mod=\"MPI\" begin=\"1\" "
         "end=\"2\"><name>MPI_Put</name><url></url><descr></descr></region>"
         "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\" line=\"7\" "
         "mod=\"a.c\"></cnode>"
         "<cnode id=\"2\" calleeId=\"1\" line=\"9\" mod=\"a.c\"></cnode></cnode></program>\n"
         "<system><machine Id=\"0\"><name>m</name><node Id=\"0\"><name>n</name>"
         "<process Id=\"0\"><name>p0</name><rank>0</rank><thread "
         "Id=\"0\"><name></name><rank>0</rank></thread>"
         "</process><process Id=\"1\"><name>p1</name><rank>1</rank><thread Id=\"1\"><name>t</name>"
         "<rank>0</rank></thread></process></node></machine><topologies></topologies></"
         "system>\n<severity>" +
         matrices + "</severity>\n</cube>\n";
}

std::string matrix(const std::string& id, const std::string& rows) {
  return "<matrix metricId=\"" + id + "\">" + rows + "</matrix>";
}

std::string row(const std::string& id, const std::string& values) {
  return "<row cnodeId=\"" + id + "\">\n" + values + "\n</row>";
}

const std::string kGood =
    matrix("0", row("0", "1\n2.5") + row("1", "0.5\n0") + row("2", "1e-3\n4")) +
    matrix("1", row("1", "0.5\n0") + row("2", "0.001\n4")) +
    matrix("2", row("1", "0.25\n0") + row("2", "0\n3")) + matrix("3", row("2", "0\n1")) +
    matrix("4", row("1", "3\n0"));

std::string error_of(const std::string& text) {
  try {
    read_cube(report_file("bad.cube", text));
  } catch (const CubeError& error) {
    return error.what();
  }
  return "";
}

TEST(CubeReader, ReadsEveryPart) {
  const Cube cube = read_cube(report_file("good.cube", report(kGood)));
  ASSERT_EQ(cube.metrics.size(), 5u);
  EXPECT_EQ(cube.metrics[2].uniq_name, "wait");
  EXPECT_EQ(cube.metrics[2].parent, 1);
  EXPECT_EQ(cube.metrics[4].parent, -1);
  EXPECT_EQ(cube.metrics[4].uom, "occ");
  EXPECT_EQ(cube.mirrors, std::vector<std::string>{"file:///doc/"});
  EXPECT_EQ(cube.attributes.at("CUBE_CT_AGGR"), "SUM");
  EXPECT_EQ(cube.regions[0].name, "op<int> &");
  EXPECT_EQ(cube.regions[1].end, 2);
  ASSERT_EQ(cube.cnodes.size(), 3u);
  EXPECT_EQ(cube.cnodes[2].path, "op<int> &/MPI_Put");
  EXPECT_EQ(cube.cnodes[2].line, 9);
  EXPECT_EQ(cube.cnodes[0].line, -1);
  ASSERT_EQ(cube.threads.size(), 2u);
  EXPECT_EQ(cube.threads[1].process_rank, 1);
  EXPECT_EQ(cube.threads[1].process, "p1");
  EXPECT_EQ(cube.threads[1].name, "t");
  EXPECT_EQ(cube.matrices, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(cube.severity(0, 2, 0), 1e-3);
  EXPECT_EQ(cube.severity(4, 0, 0), 0);
  EXPECT_EQ(cube.sum("time", "MPI_Put", 1), 4);
  EXPECT_EQ(cube.sum("time", "*", 0), 1 + 0.5 + 1e-3);
  EXPECT_EQ(cube.at_path("wait", "op<int> &/MPI_Put", 0), 0.25);
  EXPECT_EQ(cube.sum("wait", "MPI_Get", 0), 0);
  EXPECT_THROW(cube.sum("nothing", "*", 0), CubeError);
}

TEST(CubeReader, RefusesWhatIsNoReport) {
  EXPECT_NE(error_of("").find("bad.cube"), std::string::npos);
  EXPECT_NE(error_of("<cube version=\"4.0\"/>").find("no CUBE 3.0"), std::string::npos);
  EXPECT_NE(error_of(report(kGood).substr(0, 900)).find("not well-formed"), std::string::npos);
  EXPECT_NE(error_of(report(matrix("0", row("1", "1\n2\n3")))).find("3 values for 2 threads"),
            std::string::npos);
  EXPECT_NE(error_of(report(matrix("0", row("1", "1\nx")))).find("no number"), std::string::npos);
  EXPECT_NE(error_of(report(matrix("9", ""))).find("metricId 9 is not defined"), std::string::npos);
  EXPECT_NE(error_of(report(matrix("0", row("3", "1\n2")))).find("cnodeId 3"), std::string::npos);
  EXPECT_NE(error_of(report(matrix("0", row("1", "1\n2") + row("1", "1\n2")))).find("second row"),
            std::string::npos);
  EXPECT_NE(error_of(report(matrix("0", "") + matrix("0", ""))).find("second matrix"),
            std::string::npos);
  EXPECT_THROW(read_cube("/nowhere/at/all.cube"), CubeError);
}

TEST(ReportChecks, AGoodReportPasses) {
  EXPECT_EQ(check_report(read_cube(report_file("good.cube", report(kGood)))),
            std::vector<std::string>{});
}

TEST(ReportChecks, FindsPartsAboveTheWholeAndTimesThatNobodySpent) {
  const std::string rest = matrix("4", "");
  const auto check = [&](const std::string& matrices) {
    return check_report(read_cube(report_file("odd.cube", report(matrices + rest))));
  };
  // wait + rest = 0.6 of mpi 0.5
  auto wrong = check(matrix("0", row("1", "1\n0")) + matrix("1", row("1", "0.5\n0")) +
                     matrix("2", row("1", "0.3\n0")) + matrix("3", row("1", "0.3\n0")));
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_NE(wrong[0].find("mpi at op<int> &/MPI_Put of rank 0: 0.5 is less than its parts, 0.6"),
            std::string::npos);
  // mpi 2 in a time of 1: above its parent, and more than was spent there
  wrong = check(matrix("0", row("1", "1\n0")) + matrix("1", row("1", "2\n0")) + matrix("2", "") +
                matrix("3", ""));
  EXPECT_EQ(wrong.size(), 2u);
  wrong = check(matrix("0", row("1", "1\n0")) + matrix("1", row("1", "-0.1\n0")) + matrix("2", "") +
                matrix("3", ""));
  ASSERT_EQ(wrong.size(), 2u);  // it is also less than its parts, which are 0
  EXPECT_NE(wrong[0].find("is no severity"), std::string::npos);
  wrong = check(matrix("0", "") + matrix("1", "") + matrix("2", ""));
  EXPECT_EQ(wrong, std::vector<std::string>{"no matrix for rest"});
}

TEST(ReportChecks, ComparesReports) {
  const Cube one = read_cube(report_file("one.cube", report(kGood)));
  EXPECT_TRUE(compare_reports(one, one, 0).empty());
  Cube other = one;
  other.rows[2][1][0] += 0.01;
  EXPECT_EQ(compare_reports(one, other, 0.02).size(), 0u);
  EXPECT_EQ(compare_reports(one, other, 0.005).size(), 1u);
  other = one;
  other.rows[2].erase(1);
  EXPECT_EQ(compare_reports(one, other, 0.005).size(), 1u);
  other = one;
  other.cnodes[2].line = 10;
  EXPECT_EQ(compare_reports(one, other, 1).size(), 1u);
}

TEST(ReportChecks, ComparesWithTruth) {
  const Cube cube = read_cube(report_file("one.cube", report(kGood)));
  const auto compare = [&](const std::string& truth) {
    return compare_with_truth(cube, report_file("truth", truth), 0.002).size();
  };
  EXPECT_EQ(compare("# a comment\nwait MPI_Put 0 0.2515\nwait * 1 3\nvisits MPI_Put 0 3\n"), 0u);
  EXPECT_EQ(compare("wait MPI_Put 0 0.2525\n"), 1u);
  EXPECT_EQ(compare("wait MPI_Put 0 0\nwait MPI_Put 1 0\n"), 2u);
  EXPECT_EQ(compare("visits MPI_Put 0 3.001\n"), 1u);
  EXPECT_EQ(compare("unknown MPI_Put 0 0\n"), 1u);
  EXPECT_EQ(compare(""), 1u);
  EXPECT_THROW(compare("wait MPI_Put\n"), CubeError);
  // The report says 0.25 and 3: 2 % of 0.255 are 0.0051, of 0.2556 they are 0.005112.
  const auto loosely = [&](const std::string& truth) {
    return compare_with_truth(cube, report_file("truth", truth), 0.002, 0.02).size();
  };
  EXPECT_EQ(loosely("wait MPI_Put 0 0.255\nvisits MPI_Put 0 3\n"), 0u);
  EXPECT_EQ(loosely("wait MPI_Put 0 0.2556\nvisits MPI_Put 0 3.001\n"), 2u);
}

// Two numbers of the classic report, looked up in its text: the matrix of metric 24, call path 8.
TEST(CubeReader, ReadsTheClassicReports) {
  const Cube fence = read_cube(KOJAK_REFERENCE_DIR "/fence.cube");
  EXPECT_EQ(fence.threads.size(), 4u);
  EXPECT_EQ(fence.cnodes.size(), 15u);
  EXPECT_EQ(fence.metrics[24].uniq_name, "mpi_rma_wait_window_free");
  EXPECT_EQ(fence.sum("mpi_rma_wait_window_free", "MPI_Win_free", 0), 0.150083507704);
  EXPECT_EQ(fence.sum("mpi_rma_wait_window_free", "*", 1), 0);
  EXPECT_EQ(fence.sum("visits", "MPI_Win_fence", 2), 7);
  const Cube gats = read_cube(KOJAK_REFERENCE_DIR "/gats.cube");
  EXPECT_EQ(gats.threads.size(), 4u);
  // All their severities obey the cross-checks; only empty matrices are left out.
  for (const Cube* cube : {&fence, &gats})
    for (const std::string& line : check_report(*cube))
      EXPECT_EQ(line.rfind("no matrix for ", 0), 0u) << line;
}

}  // namespace
}  // namespace kojak::support
