// What a report says of groups of MPI functions that ELG_MPI left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"

namespace kojak::expert {
namespace {

// Rank 0 flushes a put of its own from 2 to 6; rank 1 is outside of MPI from 0 to 5.
constexpr const char* kFlush =
    "ENTER lid=0 time=0 region=main\n"
    "ENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Win_lock\n"
    "MPI_WIN_LOCK lid=0 time=1.25 llid=1 wid=0 ltype=0\n"
    "EXIT lid=0 time=1.25\n"
    "ENTER lid=0 time=1.5 region=MPI_Put\n"
    "MPI_PUT_1TS lid=0 time=1.5 dlid=1 wid=0 rmaid=0 sent=8\n"
    "EXIT lid=0 time=1.75\n"
    "ENTER lid=0 time=2 region=MPI_Win_flush\n"
    "ENTER lid=1 time=5 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=1 time=5.25\n"
    "MPI_PUT_1TE lid=1 time=6 slid=0 wid=0 rmaid=0 recvd=8\n"
    "MPI_WIN_FLUSH lid=0 time=6 tlid=1 wid=0 local=0\n"
    "EXIT lid=0 time=6\n"
    "ENTER lid=0 time=7 region=MPI_Win_unlock\n"
    "MPI_WIN_UNLOCK lid=0 time=8 llid=1 wid=0\n"
    "EXIT lid=0 time=8\n"
    "EXIT lid=0 time=9\n"
    "EXIT lid=1 time=9\n";

struct SwitchedOff {
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  std::optional<Report> report;

  explicit SwitchedOff(const std::string& off) {
    auto made = text_to_trace(off + kFlush, "text");
    if (!made) throw std::runtime_error(made.error().message());
    bytes = std::move(*made);
    auto opened = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "text");
    if (!opened) throw std::runtime_error(opened.error().message());
    trace.emplace(std::move(*opened));
    report.emplace(analyse(*trace));
  }
  std::string remark(std::string_view metric) const {
    const std::size_t m = report->find_metric(metric);
    return m == kNone ? "no such metric" : report->metrics()[m].remark;
  }
  bool has(std::string_view metric) const { return report->find_metric(metric) != kNone; }
};

TEST(SwitchedOff, NothingIsSaidWhereAllWasRecorded) {
  const SwitchedOff all("");
  EXPECT_NEAR(all.report->total(all.report->find_metric("mpi_rma_sync_wait_for_progress")), 3,
              1e-12);                               // [2, 5]
  EXPECT_TRUE(all.report->findings().size() <= 1);  // the barrier lacks a member
  // The flush ended after the target had come back: so much is said of how sure the claim is.
  for (const MetricNode& node : all.report->metrics()) {
    if (node.metric.title == "Wait for Progress") {
      EXPECT_EQ(node.remark,
                "Sure: 1 call ended only after the target, which had been computing, called MPI "
                "again; none ended before.");
    } else {
      EXPECT_EQ(node.remark, "");
    }
  }
  // A record that names no group says the same.
  const SwitchedOff none("FUNCTIONS_OFF pid=0 groups=0\n");
  EXPECT_TRUE(none.has("mpi_rma_sync_wait_for_progress"));
  EXPECT_EQ(none.report->findings().size(), all.report->findings().size());
}

TEST(SwitchedOff, WaitForProgressIsLeftOutEverywhere) {
  // Each group holds functions that can make progress.
  for (int group = 0; group < 7; ++group) {
    const SwitchedOff one("FUNCTIONS_OFF pid=1 groups=" + std::to_string(1 << group) + "\n");
    EXPECT_FALSE(one.has("mpi_rma_sync_wait_for_progress"));
    EXPECT_FALSE(one.has("mpi_rma_gat_wait_for_progress"));
    EXPECT_FALSE(one.has("mpi_rma_comm_wait_for_progress"));
    EXPECT_NE(one.remark("mpi_rma_lock_synchronization").find("Wait for Progress is left out"),
              std::string::npos);
    const auto& findings = one.report->findings();
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
      return f.what == "pattern left out: Wait for Progress" &&
             f.severity == Finding::Severity::kNote;
    }));
  }
}

TEST(SwitchedOff, NodesSayWhatTheyLack) {
  const SwitchedOff some(
      "FUNCTIONS_OFF pid=0 groups=3\n"    // p2p, coll
      "FUNCTIONS_OFF pid=1 groups=1\n");  // p2p
  EXPECT_EQ(some.remark("mpi_point2point"),
            "2 processes did not record its calls of the groups that ELG_MPI left out: p2p.");
  EXPECT_EQ(some.remark("mpi_collective"),
            "1 process did not record its calls of the groups that ELG_MPI left out: coll.");
  EXPECT_EQ(some.remark("mpi_sync_collective"), some.remark("mpi_collective"));
  EXPECT_EQ(some.remark("mpi_io"), "");
  EXPECT_EQ(some.remark("mpi_rma_fence"), "");
}

// Groups of a later version are nobody's business here.
TEST(SwitchedOff, UnknownGroupsAreIgnored) {
  const SwitchedOff later("FUNCTIONS_OFF pid=0 groups=128\n");
  EXPECT_TRUE(later.has("mpi_rma_sync_wait_for_progress"));
}

// Where messages are paired by counting calls that were not counted, nobody knows who waited for
// whom.
TEST(SwitchedOff, RootCausesAreLeftOutWithThePatterns) {
  const auto said = [](const Report& report) {
    return std::any_of(report.findings().begin(), report.findings().end(),
                       [](const Finding& f) { return f.what == "root causes left out"; });
  };
  AnalysisOptions options;
  options.root_causes = true;
  SwitchedOff counted("");
  const Report with = analyse(*counted.trace, options);
  EXPECT_TRUE(with.root_causes());
  EXPECT_FALSE(said(with));
  SwitchedOff off("RUN_PROPERTY key=\"unrecorded_called.PMPI_Send\" value=\"libx.so\"\n");
  EXPECT_FALSE(said(*off.report));  // nobody asked
  const Report without = analyse(*off.trace, options);
  EXPECT_FALSE(without.root_causes());
  EXPECT_TRUE(said(without));
  EXPECT_EQ(without.find_metric("delay"), kNone);
}

}  // namespace
}  // namespace kojak::expert
