// Calls of MPI that returned an error: what EARL tells of them, and the sentences of the report.

#include <gtest/gtest.h>

#include <sstream>

#include "earl/replay.h"
#include "earl/trace.h"
#include "epilog/format/mpi_errors.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/failed_call_words.h"
#include "expert/output/terminal.h"

namespace kojak::expert {
namespace {

struct FailedCase {
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  std::optional<Report> report;

  explicit FailedCase(const std::string& text) {
    auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    bytes = std::move(*made);
    trace.emplace(open());
    report.emplace(analyse(*trace, {}));
  }
  earl::Trace open() const {
    return std::move(*earl::Trace::from(memory_source(bytes.data(), bytes.size()), "text"));
  }
  bool has(earl::Finding finding) const { return trace->findings()[finding].count != 0; }
};

// Rank 0 fails twice with MPI_ERR_RMA_SYNC (51) and once in a send (MPI_ERR_RANK, 6); rank 1 once
// with the former. Its receive took a message that was too long (MPI_ERR_TRUNCATE, 15).
const char* const kFailed =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Put\nMPI_ERROR lid=0 time=1.5 error_class=51 code=77\n"
    "EXIT lid=0 time=1.5\n"
    "ENTER lid=1 time=2 region=MPI_Put\nMPI_ERROR lid=1 time=2.5 error_class=51 code=77\n"
    "EXIT lid=1 time=2.5\n"
    "ENTER lid=0 time=3 region=MPI_Put\nMPI_ERROR lid=0 time=3.5 error_class=51 code=77\n"
    "EXIT lid=0 time=3.5\n"
    "ENTER lid=0 time=4 region=MPI_Send\nMPI_ERROR lid=0 time=4.5 error_class=6 code=6\n"
    "EXIT lid=0 time=4.5\n"
    "ENTER lid=0 time=5 region=MPI_Send\nMPI_SEND lid=0 time=5 dlid=1 tag=1 sent=8\n"
    "EXIT lid=0 time=5.5\n"
    "ENTER lid=1 time=6 region=MPI_Recv\nMPI_ERROR lid=1 time=7 error_class=15 code=15\n"
    "MPI_RECV lid=1 time=7 slid=0 tag=1 recvd=4\nEXIT lid=1 time=7\n"
    "EXIT lid=0 time=10\nEXIT lid=1 time=10\n";

// Calls at two paths, which a second part numbers the other way round: paths 0 and 1 there are 1
// and 0 here. At path 0 rank 2 fails three times in all, first at 1; at path 1 rank 3 once, at 5.
TEST(FailedCalls, OfPartsAddUp) {
  FailedCallCounter first, second;
  first.add(0, 2, 2, {1}, 51);
  first.add(0, 2, 2, {2}, 51);
  second.add(1, 2, 2, {4}, 51);
  second.add(0, 3, 3, {5}, 51);
  first.add(second, std::vector<CallPathIndex>{1, 0});
  const std::vector<FailedCalls> rows = first.take();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].call_path, 0u);
  EXPECT_EQ(rows[0].count, 3u);
  EXPECT_EQ(rows[0].first.value, 1);
  EXPECT_EQ(rows[1].call_path, 1u);
  EXPECT_EQ(rows[1].location, 3u);
  EXPECT_EQ(rows[1].count, 1u);
  EXPECT_EQ(rows[1].first.value, 5);
}

TEST(FailedCalls, AreToldByFunctionAndClass) {
  const FailedCase a(kFailed);
  const std::vector<FailedCallGroup> groups = failed_call_groups(*a.report);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(
      failed_call_words(groups[0]),
      "MPI_Put failed 3 times on ranks 0 and 1: MPI_ERR_RMA_SYNC (wrong synchronization of RMA "
      "calls); nothing was transferred.");
  EXPECT_EQ(groups[0].first.value, 1.5);
  EXPECT_EQ(failed_call_words(groups[1]),
            "MPI_Recv failed once on rank 1: MPI_ERR_TRUNCATE (the message was longer than the "
            "buffer); the message was taken.");
  EXPECT_EQ(failed_call_words(groups[2]),
            "MPI_Send failed once on rank 0: MPI_ERR_RANK (no such rank).");
  std::ostringstream out;
  print_failed_calls(out, *a.report, {});
  EXPECT_EQ(out.str().rfind("\nCalls that failed\n  MPI_Put failed 3 times", 0), 0u) << out.str();
  for (const Finding& finding : a.report->findings())
    EXPECT_NE(finding.severity, Finding::Severity::kSuspect) << finding.what;
}

TEST(FailedCalls, NothingIsSaidWhereNoneFailed) {
  const FailedCase a("ENTER lid=0 time=0 region=main\nEXIT lid=0 time=1\n");
  std::ostringstream out;
  print_failed_calls(out, *a.report, {});
  EXPECT_EQ(out.str(), "");
}

TEST(FailedCalls, AnUnknownClassIsAnotherOne) {
  EXPECT_EQ(mpi_error(0).name, mpi_error(200).name);
  EXPECT_EQ(mpi_error(15).name, "MPI_ERR_TRUNCATE");
  EXPECT_EQ(mpi_error(kMostMpiErrors).name, "MPI_ERR_ERRHANDLER");
  for (std::uint8_t i = 0; i <= kMostMpiErrors; ++i) EXPECT_EQ(mpi_error(i).number, i);
}

struct Told : earl::Sink {
  std::string said;
  void on_failed_call(const earl::OpenCall& call, Seconds time, std::uint8_t error_class,
                      std::uint32_t code) {
    said += std::to_string(raw(call.process)) + '@' + std::to_string(static_cast<int>(time.value)) +
            ':' + std::to_string(error_class) + '/' + std::to_string(code) + ' ';
  }
};
TEST(FailedCalls, TheReplayTellsEach) {
  const FailedCase a(kFailed);
  earl::Trace trace = a.open();
  Told told;
  earl::Replay replay(trace, told);
  replay.run();
  EXPECT_EQ(told.said, "0@1:51/77 1@2:51/77 0@3:51/77 0@4:6/6 1@7:15/15 ");
}

// The second barrier of rank 0 fails in its midst, and what it does then is recorded as no barrier:
// the one of rank 1 that stays alone is no fault of the trace, and so is none the lost count.
const char* const kBegin =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Barrier\nENTER lid=1 time=1 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=0 time=2\nMPI_COLLEXIT lid=1 time=2\n"
    "ENTER lid=0 time=3 region=MPI_Barrier\nENTER lid=1 time=3 region=MPI_Barrier\n";
const char* const kEnd =
    "EXIT lid=0 time=4\nMPI_COLLEXIT lid=1 time=4\nEXIT lid=0 time=10\nEXIT lid=1 time=10\n";
TEST(FailedCalls, ALostCountIsANote) {
  const FailedCase lost(std::string(kBegin) +
                        "COLL_STATE lid=0 time=4 cid=0 count=18446744073709551615\n"
                        "MPI_ERROR lid=0 time=4 error_class=16 code=16\n" +
                        kEnd);
  EXPECT_FALSE(lost.has(earl::Finding::kIncompleteCollective));
  EXPECT_TRUE(lost.has(earl::Finding::kCountLost));
  for (const Finding& finding : lost.report->findings())
    EXPECT_NE(finding.severity, Finding::Severity::kSuspect) << finding.what;
  // Without the record it is one.
  const FailedCase kept(std::string(kBegin) + kEnd);
  EXPECT_TRUE(kept.has(earl::Finding::kIncompleteCollective));
}

}  // namespace
}  // namespace kojak::expert
