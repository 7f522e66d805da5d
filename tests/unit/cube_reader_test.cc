// The reader of CUBE 3 reports: the classic tools' files, foreign forms, hostile and broken input.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <sstream>

#include "cube_reports.h"
#include "epilog/format/text/printable.h"
#include "expert/cube/reader.h"
#include "expert/output/format.h"
#include "expert/profile/aggregate.h"
#include "expert/profile/path.h"

namespace kojak {
namespace {

using cube::kNone;
using cube::Report;
using test::write_file;

Report read_report(const std::string& text, const std::string& name = "reader.cube") {
  Result<Report> report = cube::read_report(write_file(name, text));
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : Report{};
}

std::string error_of(const std::string& text) {
  const Result<Report> report = cube::read_report(write_file("broken.cube", text));
  EXPECT_FALSE(report);
  if (report) return "";
  EXPECT_EQ(report.error().code, ExitCode::kBadInput);
  EXPECT_FALSE(report.error().remedy.empty());
  return report.error().message();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Every number of a classic file is compared with what a line-by-line scan of it finds.
void compare_with_lines(const std::string& name) {
  const std::string path = std::string(KOJAK_REFERENCE_DIR) + "/" + name;
  const Result<Report> report = cube::read_report(path);
  ASSERT_TRUE(report) << report.error().message();
  std::ifstream file(path);
  std::string line;
  std::size_t metric = kNone, call_node = kNone, location = 0, values = 0, rows = 0;
  const auto number_in = [&] { return std::strtoul(&line[line.find('"') + 1], nullptr, 10); };
  while (std::getline(file, line)) {
    if (line.find("<matrix ") != std::string::npos) metric = number_in();
    if (line.find("<row ") != std::string::npos) {
      call_node = number_in();
      location = 0;
      ++rows;
    } else if (line.find("</row>") != std::string::npos) {
      EXPECT_EQ(location, 4u);
      call_node = kNone;
    } else if (call_node != kNone) {
      const std::span<const double> row = report->severities.row(metric, call_node);
      ASSERT_EQ(row.size(), 4u);
      EXPECT_EQ(row[location++], std::strtod(line.c_str(), nullptr));
      ++values;
    }
  }
  EXPECT_GT(values, 100u);
  EXPECT_EQ(report->severities.rows(), rows);
  EXPECT_TRUE(report->warnings.empty());
}

TEST(CubeReader, ReadsEveryValueOfTheClassicReports) {
  compare_with_lines("fence.cube");
  compare_with_lines("gats.cube");
}

TEST(CubeReader, ReadsTheTreesOfAClassicReport) {
  const Result<Report> report = cube::read_report(std::string(KOJAK_REFERENCE_DIR) + "/gats.cube");
  ASSERT_TRUE(report) << report.error().message();
  // Counted in the file: grep -c '<metric ', '<region ', '<cnode ', '<thread '.
  EXPECT_EQ(report->metrics.size(), 49u);
  EXPECT_EQ(report->regions.size(), 142u);
  EXPECT_EQ(report->call_nodes.size(), 18u);
  EXPECT_EQ(report->locations(), 4u);
  const std::size_t late_complete = report->find_metric("mpi_rma_latecomplete");
  ASSERT_NE(late_complete, kNone);
  EXPECT_EQ(report->metrics[report->metrics[late_complete].parent].name, "mpi_rma_earlywait");
  EXPECT_EQ(cube::metric_depths(*report)[late_complete], 7u);
  EXPECT_EQ(report->call_path(2), "PARALLEL / MPI_Init / TRACING");
  EXPECT_EQ(report->location_name(3), "rank 3");
  ASSERT_EQ(report->topologies.size(), 1u);
  ASSERT_EQ(report->topologies[0].dimensions.size(), 2u);
  EXPECT_EQ(report->topologies[0].dimensions[1].size, 4);
  EXPECT_TRUE(report->topologies[0].dimensions[0].periodic);
  EXPECT_FALSE(report->topologies[0].dimensions[1].periodic);
  ASSERT_EQ(report->topologies[0].points.size(), 4u);
  EXPECT_EQ(report->topologies[0].points[2].coordinates, (std::vector<long>{0, 2}));
  EXPECT_EQ(report->system[report->topologies[0].points[2].system_node].location, 2u);
}

TEST(CubeReader, SumsUpTrees) {
  const Report report = read_report(test::small_report());
  // time: main 1+2, MPI_Recv 4+8; with callees main has 3+12.
  EXPECT_EQ(cube::call_path_sums(report, 0), (std::vector<double>{3, 0, 12}));
  std::vector<double> values = cube::call_path_sums(report, 0);
  cube::add_callees(report, values);
  EXPECT_EQ(values, (std::vector<double>{15, 0, 12}));
  EXPECT_EQ(cube::location_sums(report, 0), (std::vector<double>{5, 10}));
  EXPECT_EQ(cube::region_sums(report, 1), (std::vector<double>{0, 0, 8.5}));
  EXPECT_EQ(cube::total(report, 1), 8.5);
  EXPECT_EQ(report.call_site(2), "a.c:7");
}

TEST(CubeReader, IdentifiersNeedNotBeConsecutiveNorInOrder) {
  std::string text = test::small_report();
  // Rank 0's thread gets the higher id: its values then stand second in each row.
  text = replaced(text, "<thread Id=\"0\">", "<thread Id=\"70\">");
  text = replaced(text, "<region id=\"2\"", "<region id=\"900\"");
  text = replaced(text, "calleeId=\"2\"", "calleeId=\"900\"");
  const Report report = read_report(text);
  EXPECT_EQ(report.region_name(2), "MPI_Recv");
  EXPECT_EQ(report.location_name(0), "rank 1");
  EXPECT_EQ(report.location_name(1), "rank 0");
  EXPECT_EQ(report.severities.row(0, 0)[0], 1);
}

TEST(CubeReader, ReadsGzip) {
  const std::string path = write_file("packed.cube", "");
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string text = test::small_report();
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  const Result<Report> report = cube::read_report(path);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(cube::total(*report, 0), 15);
}

TEST(CubeReader, KeepsHostileNamesAndRepairsWhatIsNoText) {
  const std::string longest(10000, 'x');
  std::string text = test::small_report();
  text = replaced(text, "<name>work</name>", "<name>&lt;script&gt;\"'" + longest + "</name>");
  text = replaced(text, "<name>MPI_Recv</name>", "<name>a\xFF\x01\xC0\x80z\xED\xA0\x80</name>");
  const Report report = read_report(text);
  EXPECT_EQ(report.regions[1].name, "<script>\"'" + longest);
  // FF, 01, C0, 80 and the three bytes of a surrogate: seven replacements.
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(report.regions[2].name, "a" + r + r + r + r + "z" + r + r + r);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("7 bytes"), std::string::npos) << report.warnings[0];
}

TEST(CubeReader, RepairsAcrossTheBordersOfItsChunks) {
  // A two-byte character at every offset around the input buffer's size of 256 KiB.
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text = test::small_report();
    const std::size_t at = text.find("<name>work</name>");
    const std::string filler(256 * 1024 - at - 6 - 2 + shift, 'f');
    text = replaced(text, "<name>work</name>", "<name>" + filler + "\xC3\xA9</name>");
    const Report report = read_report(text);
    EXPECT_EQ(report.regions[1].name, filler + "\xC3\xA9") << shift;
    EXPECT_TRUE(report.warnings.empty());
  }
}

TEST(CubeReader, ReadsDeepCallTrees) {
  constexpr int kDepth = 100'000;
  std::string nodes;
  for (int i = 0; i < kDepth; ++i) {
    nodes += "<cnode id=\"" + std::to_string(i) + "\" calleeId=\"0\">";
  }
  for (int i = 0; i < kDepth; ++i) nodes += "</cnode>";
  const Report report =
      read_report(test::report(test::metric(0, "time"), test::region(0, "f") + nodes,
                               test::system_of(1), "<matrix metricId=\"0\"></matrix>"));
  EXPECT_EQ(cube::call_node_depths(report).back(), kDepth - 1u);
  // The names of all of them together: as long as the report is large.
  const cube::CallPaths paths(report);
  std::size_t size = 0;
  for (std::size_t c = 0; c < kDepth; ++c) size += paths.name(c).size();
  EXPECT_LT(size, kDepth * (2 * cube::kNamedCalls + 10) * 4);
}

TEST(CubeReader, ReadsDeepMetricTrees) {
  constexpr int kDepth = 50'000;
  std::string metrics;
  for (int i = 0; i < kDepth; ++i) {
    const std::string whole = test::metric(i, "m" + std::to_string(i));
    metrics += whole.substr(0, whole.size() - std::string("</metric>").size());
  }
  for (int i = 0; i < kDepth; ++i) metrics += "</metric>";
  const Report report = read_report(test::report(
      metrics, test::region(0, "f") + "<cnode id=\"0\" calleeId=\"0\"></cnode>", test::system_of(1),
      "<matrix metricId=\"49999\"><row cnodeId=\"0\">\n3\n</row></matrix>"));
  EXPECT_EQ(cube::metric_depths(report).back(), kDepth - 1u);
  EXPECT_EQ(cube::metric_roots(report).back(), 0u);
  EXPECT_EQ(cube::totals(report).back(), 3);
}

// Written out, each path is the names from the root; beyond a length the middle is counted.
TEST(CallPaths, NameTheTwoEndsOfWhatIsLong) {
  for (const std::size_t depth : {1u, 2u, 99u, 100u, 101u, 199u, 200u, 201u, 202u, 350u}) {
    Report report;
    for (std::size_t i = 0; i < depth; ++i) {
      report.regions.push_back({"r" + std::to_string(i), "", "", "", -1, -1});
      report.call_nodes.push_back({i == 0 ? kNone : i - 1, i, -1, ""});
    }
    std::string expected;
    for (std::size_t i = 0; i < depth; ++i) {
      if (i > 0) expected += " / ";
      if (i == cube::kNamedCalls && depth > 2 * cube::kNamedCalls) {
        expected += "... " + std::to_string(depth - 200) + " more ... / ";
        i = depth - cube::kNamedCalls;
      }
      expected += "r" + std::to_string(i);
    }
    EXPECT_EQ(report.call_path(depth - 1), expected);
    EXPECT_EQ(cube::CallPaths(report).name(depth - 1), expected);
    EXPECT_EQ(cube::CallPaths(report).depth(depth - 1), depth - 1);
  }
}

TEST(CubeReader, SaysWhatIsWrongWithAReport) {
  const std::string good = test::small_report();
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string message = error_of(text);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("broken.cube"), std::string::npos) << message;
  };
  expect("", "is empty");
  expect(std::string("EPILOG\0\2\0\1", 10), "is a trace");
  expect("hello", "is no XML");
  expect("<html></html>", "<html>, not <cube>");
  expect(replaced(good, "version=\"3.0\"", "version=\"4.0\""), "version 4.0");
  expect(replaced(good, "calleeId=\"2\"", "calleeId=\"77\""), "no region has the id 77");
  expect(replaced(good, "cnodeId=\"0\"", "cnodeId=\"9\""), "no cnode has the id 9");
  expect(replaced(good, "metricId=\"1\"", "metricId=\"x\""), "is \"x\", not a number");
  expect(replaced(good, "metricId=\"1\"", "metricId=\"0\""), "a row is there twice");
  expect(replaced(good, "<thread Id=\"1\">", "<thread Id=\"0\">"), "thread have the id 0");
  expect(replaced(good, "4\n8\n", "4\n"), "1 values for 2 threads");
  expect(replaced(good, "4\n8\n", "4\n8\n1\n"), "more values than there are threads");
  expect(replaced(good, "4\n8\n", "4\neight\n"), "no number");
  expect(replaced(good, "4\n8\n", "4\n1e999\n"), "1e999, which is too large");
  expect(replaced(good, "4\n8\n", "4\n-1e999\n"), "-1e999, which is too large");
  expect(replaced(good, "</metrics>", "</metricz>"), "not well-formed");
  expect(replaced(good, "<cube", "<!DOCTYPE cube [<!ENTITY a \"b\">]><cube"), "document type");
  EXPECT_NE(cube::read_report("/nonexistent.cube").error().message().find("cannot be opened"),
            std::string::npos);
  EXPECT_NE(cube::read_report(KOJAK_BINARY_DIR).error().message().find("is a directory"),
            std::string::npos);
  // What the file says is harmless in a message, and short.
  const std::string evil = "\u009b31m\u202e" + std::string(10'000, 'x');
  const std::string message =
      error_of(replaced(good, "metricId=\"1\"", "metricId=\"" + evil + "\""));
  EXPECT_EQ(message.find("\u009b"), std::string::npos);
  EXPECT_EQ(message.find("\u202e"), std::string::npos);
  EXPECT_LT(message.size(), 600u);
}

TEST(CubeReader, ValuesTooSmallForANumberAreReadAsZero) {
  const Report report = read_report(replaced(test::small_report(), "4\n8\n", "1e-999\n8\n"));
  EXPECT_EQ(cube::call_path_sums(report, 0), (std::vector<double>{3, 0, 8}));
  EXPECT_TRUE(report.warnings.empty());
}

TEST(CubeReader, ValuesThatAreNoFiniteNumbersAreReadAsZero) {
  const Report report = read_report(replaced(test::small_report(), "4\n8\n", "nan\ninf\n"));
  EXPECT_EQ(cube::call_path_sums(report, 0), (std::vector<double>{3, 0, 0}));
  EXPECT_EQ(report.warnings.size(), 1u);
}

TEST(CubeReader, EveryPrefixIsAnError) {
  const std::string text = test::small_report();
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const Result<Report> report =
        cube::read_report(write_file("prefix.cube", text.substr(0, size)));
    ASSERT_FALSE(report) << size;
    // Once it is known to be a report, and before its last tag.
    if (size > text.find("<metrics>") && size <= text.find("</cube")) {
      EXPECT_NE(report.error().message().find("ends in the middle"), std::string::npos) << size;
    }
  }
}

TEST(CubeReader, NoChangedByteDoesHarm) {
  const std::string text = test::small_report();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    const Result<Report> report = cube::read_report(write_file("changed.cube", changed));
    if (!report) {
      ++refused;
      EXPECT_FALSE(report.error().reason.empty());
      continue;
    }
    for (std::size_t m = 0; m < report->metrics.size(); ++m) cube::total(*report, m);
  }
  EXPECT_GT(refused, text.size() / 4);
}

TEST(CubeFormat, MakesNamesSafeForATerminal) {
  EXPECT_EQ(printable("a\033[31mb\nc"),
            "a\xEF\xBF\xBD[31mb\xEF\xBF\xBD"
            "c");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\xEF\xBF\xBD"
            "31m");
  EXPECT_EQ(printable_name("abcdefgh", 6), "abc...");
  EXPECT_EQ(printable_name("\xC3\xA9\xC3\xA9", 2), "\xC3\xA9\xC3\xA9");
  EXPECT_EQ(printable_path("main / exchange / MPI_Put", 13), "... / MPI_Put");
}

TEST(CubeFormat, WritesValuesByTheirUnit) {
  EXPECT_EQ(cube::format_value(cube::Unit::kSeconds, 1.5), "1.500000");
  EXPECT_EQ(cube::format_value(cube::Unit::kCount, 12), "12");
  EXPECT_EQ(cube::format_change(cube::Unit::kSeconds, 0.25), "+0.250000");
  EXPECT_EQ(cube::format_change(cube::Unit::kBytes, -3), "-3");
  EXPECT_EQ(cube::format_exact(0.1), "0.1");
}

}  // namespace
}  // namespace kojak
