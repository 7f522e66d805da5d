// Lines of source around calls: which are read, which files are refused, and how much at most.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "cube_reports.h"
#include "expert/cube/reader.h"
#include "expert/page/page.h"
#include "expert/page/source_lines.h"

namespace kojak {
namespace {

class HtmlSource : public testing::Test {
 protected:
  // A file of the lines "line 1", "line 2", ...
  static std::string numbered(const std::string& name, long lines) {
    std::string text;
    for (long i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
    return test::write_file(name, text);
  }
  std::vector<html::SourceLines> read(const std::vector<std::string>& files,
                                      std::vector<html::SourcePlace> places) {
    return html::read_source(files, std::move(places), {run, folders}, complete);
  }
  std::vector<std::filesystem::path> folders;
  std::filesystem::file_time_type run =
      std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
  bool complete = false;
};

TEST_F(HtmlSource, LinesAroundCalls) {
  const std::string file = numbered("around.c", 100);
  // 2 and 10 are 8 lines apart: one piece from 1 to 13. 35 is 25 behind 10: also that piece, to 38.
  // 64 is 29 behind 35: 61 to 67. 99: 96 to 100, where the file ends, is 35 behind 64.
  const auto parts = read(
      {"", file}, {{1, 64, {}}, {1, 2, {}}, {1, 35, {}}, {1, 10, {}}, {1, 99, {}}, {1, 64, {}}});
  ASSERT_EQ(parts.size(), 3u);
  const long bounds[3][2] = {{1, 38}, {61, 67}, {96, 100}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].file, 1u);
    EXPECT_EQ(parts[i].first, bounds[i][0]);
    ASSERT_EQ(static_cast<long>(parts[i].lines.size()), bounds[i][1] - bounds[i][0] + 1);
    EXPECT_EQ(parts[i].lines.front(), "line " + std::to_string(bounds[i][0]));
    EXPECT_EQ(parts[i].lines.back(), "line " + std::to_string(bounds[i][1]));
    EXPECT_FALSE(parts[i].changed);
  }
  EXPECT_TRUE(complete);
}

TEST_F(HtmlSource, OneLineFurtherApartIsAPieceOfItsOwn) {
  // 10 and 36 are 26 apart.
  const auto parts = read({numbered("apart.f90", 50)}, {{0, 10, {}}, {0, 36, {}}});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].first, 7);
  EXPECT_EQ(parts[0].lines.size(), 7u);
  EXPECT_EQ(parts[1].first, 33);
  EXPECT_EQ(parts[1].lines.size(), 7u);
}

TEST_F(HtmlSource, AFileThatChangedAfterTheRunSaysSo) {
  const std::string file = numbered("changed.cc", 5);
  run = std::filesystem::last_write_time(file) - std::chrono::seconds(1);
  const auto parts = read({file}, {{0, 3, {}}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].changed);
  run += std::chrono::seconds(1);  // as old as the trace: not changed since
  EXPECT_FALSE(read({file}, {{0, 3, {}}})[0].changed);
}

TEST_F(HtmlSource, WhatIsNoSourceIsNotRead) {
  const std::string pipe = std::string(KOJAK_BINARY_DIR) + "/tests/pipe.c";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directories(std::string(KOJAK_BINARY_DIR) + "/tests/folder.c");
  const std::vector<std::string> files = {numbered("secret.txt", 9),
                                          numbered("no_ending", 9),
                                          pipe,
                                          std::string(KOJAK_BINARY_DIR) + "/tests/folder.c",
                                          "/nonexistent/a.c",
                                          "a.c",
                                          ""};
  std::vector<html::SourcePlace> places;
  for (std::size_t i = 0; i < files.size(); ++i) places.push_back({i, 1, {}});
  EXPECT_TRUE(read(files, places).empty());
  EXPECT_TRUE(complete);
  // A line that the file has no more.
  EXPECT_TRUE(read({numbered("short.c", 9)}, {{0, 13, {}}}).empty());
}

TEST_F(HtmlSource, LongLinesAndMuchSourceAreCut) {
  const std::string wide = test::write_file("wide.c", std::string(10'000, 'x') + "\r\nshort\r\n");
  const auto parts = read({wide}, {{0, 1, {}}});
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0].lines.size(), 2u);
  EXPECT_LE(parts[0].lines[0].size(), html::kLongestSourceLine);
  EXPECT_EQ(parts[0].lines[1], "short");
  EXPECT_TRUE(complete);

  // 4,000 lines of 150 bytes are more than a page takes.
  std::string text;
  std::vector<html::SourcePlace> places;
  for (long i = 1; i <= 4000; ++i) {
    text += std::string(150, 'y') + "\n";
    places.push_back({0, i, {}});
  }
  std::size_t size = 0;
  for (const auto& part : read({test::write_file("much.c", text)}, places)) {
    for (const std::string& line : part.lines) size += line.size() + 1;
  }
  EXPECT_FALSE(complete);
  EXPECT_LE(size, html::kMostSource);
  EXPECT_GT(size, html::kMostSource - 200);
}

TEST_F(HtmlSource, RelativeNamesAreTakenFromAFolderWhereTheCallsAre) {
  namespace fs = std::filesystem;
  const fs::path here = fs::path(KOJAK_BINARY_DIR) / "tests";
  for (const char* folder : {"first", "second", "none"}) fs::create_directories(here / folder);
  folders = {here / "none", here / "first", here / "second"};
  // In the first folder is another program of this name: one of three calls is named near its line.
  // In the second all are: in capitals, in the line itself, and one line further.
  test::write_file("first/solver.c", "MPI_Put(a);\nx\nx\nx\nx\nx\nx\nx\n");
  test::write_file("second/solver.c",
                   "CALL MPI_PUT(\nx\nx\nMPI_Get(b);\nx\nx\nx\nMPI_Win_fence(\n");
  test::write_file("second/relax.c", "x\nhot\n");
  const std::vector<html::SourcePlace> places = {
      {0, 1, "MPI_Put"}, {0, 4, "MPI_Get"}, {0, 7, "MPI_Win_fence"}, {1, 2, {}}};
  const auto parts = read({"solver.c", "relax.c"}, places);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].lines.front(), "CALL MPI_PUT(");
  EXPECT_EQ(parts[1].lines.back(), "hot");
  // Half of the calls are not enough: the third stands where only an x is.
  folders = {here / "first"};
  EXPECT_TRUE(read({"solver.c"}, {{0, 1, "MPI_Put"}, {0, 5, "MPI_Get"}}).empty());
  EXPECT_FALSE(read({"solver.c"}, {{0, 1, "MPI_Put"}}).empty());
  // Each file is found in its own folder: make compiles where a part of the program lies.
  test::write_file("none/main.c", "MPI_Init(0, 0);\n");
  test::write_file("second/main.c", "x\n");
  folders = {here / "none", here / "second"};
  const auto both =
      read({"main.c", "solver.c"}, {{0, 1, "MPI_Init"}, {1, 1, "MPI_Put"}, {1, 4, "MPI_Get"}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].lines.front(), "MPI_Init(0, 0);");
  EXPECT_EQ(both[1].lines.front(), "CALL MPI_PUT(");
  // Without a call of MPI nothing tells that it is the file.
  folders = {here / "first"};
  EXPECT_TRUE(read({"solver.c"}, {{0, 1, "work"}}).empty());
}

TEST_F(HtmlSource, ThePageHasItOnlyWhenAsked) {
  const std::string file = numbered("paged.c", 20);
  std::string text = test::small_report();
  for (std::size_t at; (at = text.find("\"a.c\"")) != std::string::npos;) {
    text.replace(at, 5, "\"" + file + "\"");
  }
  const Result<cube::Report> report = cube::read_report(test::write_file("sources.cube", text));
  ASSERT_TRUE(report);
  const auto page = [&](const html::PageOptions& options) {
    const std::string path = test::write_file("sources.html", "");
    EXPECT_TRUE(html::write_page(*report, options, path));
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  html::PageOptions options;
  EXPECT_EQ(page(options).find("line 10"), std::string::npos);
  options.source = html::SourceSearch{run, {}};
  // The calls stand in lines 5 and 7: lines 2 to 10.
  const std::string with = page(options);
  EXPECT_NE(with.find("\"first\":2,\"lines\":[\"line 2\""), std::string::npos);
  EXPECT_NE(with.find("\"line 10\"]"), std::string::npos);
}

}  // namespace
}  // namespace kojak
