// Every case of the patterns, and the traces of real programs that are kept in the repository,
// through all relations of metamorphic_relations.h. And the changes themselves by hand, so that no
// relation holds because nothing was changed.
//
// KOJAK_PROPERTY_SEED sets the seed of the random choices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "epilog/format/text/text_reader.h"
#include "expert/patterns/catalogue.h"
#include "tests/support/limit_memory.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_parts.h"
#include "tests/unit/metamorphic_relations.h"

namespace kojak::metamorphic {
namespace {

namespace fs = std::filesystem;

std::uint64_t first_seed() {
  const char* text = std::getenv("KOJAK_PROPERTY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20;
}

TraceBytes from_text(const std::string& text) {
  auto made = text_to_trace(text, "text");
  if (!made) throw std::runtime_error(made.error().message());
  return std::move(*made);
}
// The lines of a trace that hold any of these words.
std::string lines_with(const TraceBytes& trace, const std::vector<std::string>& words) {
  std::istringstream in(*trace_to_text(trace));
  std::string found;
  for (std::string line; std::getline(in, line);) {
    if (std::any_of(words.begin(), words.end(), [&](const std::string& word) {
          return line.find(word) != std::string::npos;
        })) {
      found += line + "\n";
    }
  }
  return found;
}

struct Named {
  std::string name;
  TraceBytes trace;
};
std::vector<Named> all_traces() {
  std::vector<Named> traces;
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(KOJAK_CASES_DIR)) {
    if (entry.path().extension() == ".case") cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  for (const fs::path& path : cases) {
    const std::string text = test::read_text(path.string());
    traces.push_back({path.filename(), from_text(text.substr(0, text.find("\n--- ") + 1))});
  }
  for (const char* name : {"fence.elg", "gats.elg"}) {
    traces.push_back({name, test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name)});
  }
  return traces;
}

TEST(MetamorphicCases, HoldAllRelations) {
  test::limit_memory();
  Tally tally;
  std::uint64_t seed = first_seed();
  for (const Named& one : all_traces()) {
    const std::vector<std::string> wrong = check_relations(one.trace, ++seed, tally);
    std::string text;
    for (std::size_t i = 0; i < wrong.size() && i < 10; ++i) text += "\n  " + wrong[i];
    EXPECT_TRUE(wrong.empty()) << one.name << ", seed " << seed << ":" << text;
  }
  std::cout << tally.table();
  // Every waiting pattern went through every relation, but for `windows` and `ends back` (one-sided
  // only), `members` (no scans) and `ties` (threads of one process keep their order, so that there
  // are none in OpenMP cases).
  for (const auto& [relation, row] : tally.rows()) {
    if (relation == "windows" || relation == "ends back") {
      EXPECT_GT(row.with_waits, relation == "windows" ? 2u : 10u) << relation;
      continue;
    }
    EXPECT_GT(row.with_waits, 20u) << relation;
    for (const expert::Metric& m : expert::all_metrics()) {
      if (m.kind != expert::Metric::Kind::kPattern || m.unit != expert::Unit::kSeconds) continue;
      if (relation == "members" && m.name.ends_with("_earlyscan")) continue;
      if (relation == "ties" && m.needs == expert::Needs::kOpenMp) continue;
      // What ARMCI's programs broadcast and collect is MPI's.
      if (m.name == "armci_latebroadcast" || m.name == "armci_wait_nxn") continue;
      EXPECT_TRUE(row.waits.contains(std::string(m.name))) << relation << ": " << m.name;
    }
  }
}

// ---- the changes themselves

TEST(MetamorphicChanges, ScaleTimesAndErrorBounds) {
  const TraceBytes trace = support::with_times_scaled(
      from_text("CLOCK_ERROR nid=0 bound=0.5\nENTER lid=0 time=1.5 region=main\n"
                "EXIT lid=0 time=4\n"),
      4);
  EXPECT_EQ(lines_with(trace, {"CLOCK_ERROR", "ENTER", "EXIT"}),
            "CLOCK_ERROR nid=0 bound=2\nENTER lid=0 time=6 rid=0\nEXIT lid=0 time=16\n");
}

TEST(MetamorphicChanges, RenumberRanksEverywhere) {
  // Of three processes with a second thread in rank 1 every field that means a rank must follow.
  const TraceBytes trace = from_text(
      "LOCATION lid=0 mid=0 nid=0 pid=0 tid=0\nLOCATION lid=1 mid=0 nid=0 pid=1 tid=0\n"
      "LOCATION lid=2 mid=0 nid=0 pid=2 tid=0\nLOCATION lid=3 mid=0 nid=0 pid=1 tid=1\n"
      "MPI_GROUP gid=5 mode=0 ranks=[2,0]\n"
      "ENTER lid=0 time=0 region=main\nMPI_SEND lid=0 time=1 dlid=2 tag=0 sent=8\n"
      "MPI_WIN_LOCK lid=3 time=2 llid=1 wid=0 ltype=1\n");
  bool moved = false;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const support::Renumbered other = support::with_ranks_renumbered(trace, seed);
    const auto to = [&](std::uint32_t l) { return std::to_string(other.location.at(l)); };
    moved = moved || to(0) != "0";
    EXPECT_EQ(other.location.at(3), 3u);
    EXPECT_EQ(lines_with(other.trace, {"LOCATION lid=" + to(1) + " ", "tid=1", "SEND", "LOCK"}),
              "LOCATION lid=" + to(1) + " mid=0 nid=0 pid=" + to(1) + " tid=0\n" +
                  "LOCATION lid=3 mid=0 nid=0 pid=" + to(1) + " tid=1\n" + "MPI_SEND lid=" + to(0) +
                  " time=1 dlid=" + to(2) + " cid=0 tag=0 sent=8\n" +
                  "MPI_WIN_LOCK lid=3 time=2 llid=" + to(1) + " wid=0 ltype=1\n");
    EXPECT_EQ(lines_with(other.trace, {"MPI_GROUP gid=5"}),
              "MPI_GROUP gid=5 mode=0 count=2 ranks=[" + to(2) + "," + to(0) + "]\n");
  }
  EXPECT_TRUE(moved);
}

TEST(MetamorphicChanges, LeaveOneWindowAlone) {
  const TraceBytes trace = support::only_window(
      from_text("ENTER lid=0 time=0 region=main\n"
                "ENTER lid=0 time=1 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0 time=2 wid=0\n"
                "ENTER lid=0 time=3 region=MPI_Put\n"
                "MPI_PUT_1TS lid=0 time=3 dlid=1 wid=1 rmaid=0 sent=8\nEXIT lid=0 time=4\n"
                "MPI_PUT_1TE lid=1 time=5 slid=0 wid=1 rmaid=0 recvd=8\n"
                "ENTER lid=0 time=6 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0 time=7 wid=1\n"
                "EXIT lid=0 time=8\n"),
      0);
  const std::string iprobe = lines_with(trace, {"\"MPI_Iprobe\""});
  const std::string id = iprobe.substr(13, iprobe.find(' ', 13) - 13);  // STRING strid=N
  const std::string region = lines_with(trace, {"rnid=" + id + " "});
  const std::string rid = region.substr(11, region.find(' ', 11) - 11);  // REGION rid=N
  EXPECT_EQ(lines_with(trace, {"time="}),
            "ENTER lid=0 time=0 rid=0\nENTER lid=0 time=1 rid=1\n"
            "MPI_WINCOLLEXIT lid=0 time=2 wid=0\nENTER lid=0 time=3 rid=" +
                rid + "\nEXIT lid=0 time=4\nENTER lid=0 time=6 rid=" + rid +
                "\nEXIT lid=0 time=7\nEXIT lid=0 time=8\n");
  EXPECT_EQ(lines_with(trace, {"NUM_EVENTS"}), "NUM_EVENTS eventc=8\n");
}

TEST(MetamorphicChanges, AddAProcess) {
  const support::WithIdle more = support::with_idle_process(
      from_text("ENTER lid=0 time=2 region=main\nENTER lid=1 time=2 region=main\n"
                "MPI_SEND lid=0 time=3 dlid=1 tag=0 sent=8\n"
                "EXIT lid=0 time=5\nEXIT lid=1 time=5\n"),
      3);
  const std::string idle = "lid=" + std::to_string(more.idle) + " ";
  EXPECT_EQ(more.seconds, 5);
  EXPECT_EQ(lines_with(more.trace, {idle + "time="}),
            "ENTER " + idle + "time=1 rid=1\nENTER " + idle + "time=1 rid=2\nEXIT " + idle +
                "time=1.5\nENTER " + idle + "time=5.5 rid=3\nEXIT " + idle + "time=6\nEXIT " +
                idle + "time=6\n");
  // The communicator of all does not have it.
  EXPECT_EQ(lines_with(more.trace, {"MPI_GROUP"}), "MPI_GROUP gid=0 mode=0 count=2 ranks=[" +
                                                       std::to_string(more.location[0]) + "," +
                                                       std::to_string(more.location[1]) + "]\n");
}

TEST(MetamorphicChanges, ReorderTiesOnly) {
  const TraceBytes trace = from_text(
      "ENTER lid=0 time=1 region=main\nENTER lid=1 time=1 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Send\nMPI_SEND lid=0 time=1 dlid=1 tag=0 sent=8\n"
      "MPI_RECV lid=1 time=1 slid=0 tag=0 recvd=8\nEXIT lid=0 time=2\n");
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const support::Reordered other = support::with_ties_reordered(trace, seed);
    const std::string lines = lines_with(other.trace, {"time="});
    EXPECT_EQ(other.moved == 0, other.trace == trace);
    EXPECT_LT(lines.find("SEND"), lines.find("RECV"));
    EXPECT_TRUE(lines.ends_with("time=1 slid=0 cid=0 tag=0 recvd=8\nEXIT lid=0 time=2\n"));
    orders.insert(lines);
  }
  EXPECT_EQ(orders.size(), 3u);  // the first event of 1 before, between and behind those of 0
}

}  // namespace
}  // namespace kojak::metamorphic
