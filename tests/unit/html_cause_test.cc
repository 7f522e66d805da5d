// Whom a call waited for: of each kind of waiting one instance, with the call that ended it; and
// the rank that hardly waits where all the others do.
#include <gtest/gtest.h>

#include <string>

#include "cube_reports.h"
#include "epilog/format/text/text_reader.h"
#include "expert/cube/reader.h"
#include "expert/page/bottlenecks.h"
#include "expert/page_of_trace.h"
#include "expert/patterns/catalogue.h"
#include "html_traces.h"

namespace kojak::html {
namespace {

cube::Report report_of(int ranks, const std::string& metrics = test::metric(0, "time"),
                       const std::string& severity = "") {
  const std::string program = test::region(0, "main") + "<cnode id=\"0\" calleeId=\"0\"></cnode>";
  const std::string text = test::report(metrics, program, test::system_of(ranks), severity);
  Result<cube::Report> report = cube::read_report(test::write_file("cause.cube", text));
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : cube::Report{};
}

// The worst instance of a pattern; without a row if there is none.
Instance worst(const std::string& text, int ranks, const std::string& metric) {
  const std::string path = test::write_file("cause.elg", "");
  const Status written = text_to_trace_file(text, path);
  EXPECT_TRUE(written) << written.error().message();
  const Result<TracePart> part = read_trace_part(path, report_of(ranks), 1'000'000);
  EXPECT_TRUE(part) << part.error().message();
  if (part) {
    for (const Instance& instance : part->instances) {
      if (instance.metric == metric) return instance;
    }
  }
  ADD_FAILURE() << "no instance of " << metric;
  return {};
}

TEST(HtmlCause, ABarrierWaitsForTheLastToEnter) {
  const Instance found = worst(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=2 time=1 region=MPI_Barrier
ENTER lid=0 time=2 region=MPI_Barrier
ENTER lid=1 time=5 region=MPI_Barrier
MPI_COLLEXIT lid=0 time=6
MPI_COLLEXIT lid=1 time=6
MPI_COLLEXIT lid=2 time=6
EXIT lid=0 time=8
EXIT lid=1 time=8
EXIT lid=2 time=8
)",
                               3, "mpi_barrier_wait");
  EXPECT_DOUBLE_EQ(found.seconds, 7);  // 4 s of rank 2 and 3 s of rank 0
  ASSERT_FALSE(found.rows.empty());
  EXPECT_EQ(found.rows[0], 2u);
  EXPECT_EQ(found.cause_row, 1u);
  EXPECT_EQ(found.cause_call, "MPI_Barrier");
}

TEST(HtmlCause, AReceiverWaitsForItsSender) {
  const Instance found = worst(kLateSender, 2, "mpi_latesender");
  EXPECT_DOUBLE_EQ(found.seconds, 2);
  EXPECT_EQ(found.rows, std::vector<std::size_t>{1});
  EXPECT_EQ(found.cause_row, 0u);
  EXPECT_EQ(found.cause_call, "MPI_Send");
}

// Rank 0 starts an access epoch to 1, which posts at once, and 2, which posts at 4. Later both wait
// for its Win_complete at 8.
const char* const kActiveTarget = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=0.5 region=MPI_Win_post
MPI_WINEXIT lid=1 time=0.75 wid=0 group=[0] synex=0
ENTER lid=0 time=1 region=MPI_Win_start
ENTER lid=1 time=3 region=MPI_Win_wait
ENTER lid=2 time=4 region=MPI_Win_post
MPI_WINEXIT lid=2 time=4.25 wid=0 group=[0] synex=0
MPI_WINEXIT lid=0 time=4.5 wid=0 group=[1,2] synex=0
ENTER lid=2 time=5 region=MPI_Win_wait
ENTER lid=0 time=8 region=MPI_Win_complete
MPI_WINEXIT lid=0 time=8.5 wid=0 group=[1,2] synex=1
MPI_WINEXIT lid=1 time=9 wid=0 group=[0] synex=1
MPI_WINEXIT lid=2 time=9 wid=0 group=[0] synex=1
EXIT lid=0 time=10
EXIT lid=1 time=10
EXIT lid=2 time=10
)";

TEST(HtmlCause, AnOriginWaitsForTheLastPost) {
  const Instance found = worst(kActiveTarget, 3, "mpi_rma_latepost");
  EXPECT_DOUBLE_EQ(found.seconds, 3);
  EXPECT_EQ(found.cause_row, 2u);
  EXPECT_EQ(found.cause_call, "MPI_Win_post");
}

TEST(HtmlCause, ATargetWaitsForTheOriginsComplete) {
  const Instance found = worst(kActiveTarget, 3, "mpi_rma_earlywait");
  EXPECT_DOUBLE_EQ(found.seconds, 5);  // of rank 1; the 3 s of rank 2 are another exposure epoch
  EXPECT_EQ(found.cause_row, 0u);
  EXPECT_EQ(found.cause_call, "MPI_Win_complete");
}

TEST(HtmlCause, ALockWaitsForItsHolder) {
  // Rank 1 holds the lock of rank 2 until 5; rank 0 asks for it at 2.
  const Instance found = worst(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=0.5 region=MPI_Win_lock
MPI_WIN_LOCK lid=1 time=1 llid=2 wid=0 ltype=1
EXIT lid=1 time=1
ENTER lid=1 time=1.5 region=MPI_Put
MPI_PUT_1TS lid=1 time=1.5 dlid=2 wid=0 rmaid=5 sent=8
EXIT lid=1 time=1.75
ENTER lid=0 time=2 region=MPI_Win_lock
ENTER lid=1 time=5 region=MPI_Win_unlock
MPI_PUT_1TE lid=2 time=5.5 slid=1 wid=0 rmaid=5 recvd=8
MPI_WIN_UNLOCK lid=1 time=5.5 llid=2 wid=0
EXIT lid=1 time=5.5
MPI_WIN_LOCK lid=0 time=6 llid=2 wid=0 ltype=1
EXIT lid=0 time=6
ENTER lid=0 time=6.25 region=MPI_Put
MPI_PUT_1TS lid=0 time=6.25 dlid=2 wid=0 rmaid=6 sent=8
EXIT lid=0 time=6.5
ENTER lid=0 time=7 region=MPI_Win_unlock
MPI_PUT_1TE lid=2 time=7.5 slid=0 wid=0 rmaid=6 recvd=8
MPI_WIN_UNLOCK lid=0 time=7.5 llid=2 wid=0
EXIT lid=0 time=7.5
EXIT lid=0 time=8
EXIT lid=1 time=8
EXIT lid=2 time=8
)",
                               3, "mpi_rma_sync_lock_contention");
  EXPECT_EQ(found.rows, std::vector<std::size_t>{0});
  EXPECT_EQ(found.cause_row, 1u);
  EXPECT_EQ(found.cause_call, "MPI_Win_unlock");
  EXPECT_DOUBLE_EQ(found.seconds, 3.5);  // 5.5 - 2
}

TEST(HtmlCause, CompletionHasNone) {
  const Instance found = worst(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Barrier
ENTER lid=1 time=2 region=MPI_Barrier
MPI_COLLEXIT lid=0 time=3
MPI_COLLEXIT lid=1 time=5
EXIT lid=0 time=8
EXIT lid=1 time=8
)",
                               2, "mpi_barrier_completion");
  EXPECT_DOUBLE_EQ(found.seconds, 2);
  EXPECT_EQ(found.cause_row, cube::kNone);
}

// A message from rank 0, sent `late` seconds after the receive was entered.
std::string message(double at, double late) {
  const auto time = [](double seconds) { return " time=" + std::to_string(seconds); };
  return "ENTER lid=1" + time(at) + " region=MPI_Recv\nENTER lid=0" + time(at + late) +
         " region=MPI_Send\nMPI_SEND lid=0" + time(at + late) +
         " dlid=1 cid=0 tag=7 sent=8\nEXIT lid=0" + time(at + late) + "\nMPI_RECV lid=1" +
         time(at + late) + " slid=0 cid=0 tag=7 recvd=8\nEXIT lid=1" + time(at + late) + "\n";
}

TEST(HtmlInstances, EachPlaceHasItsWorst) {
  // Twenty long waits in main, and two short ones in a function of their own.
  std::string text = "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n";
  for (int i = 0; i < 20; ++i) text += message(1 + 10 * i, 5 + 0.125 * i);
  text += "ENTER lid=1 time=300 region=rare\n" + message(301, 0.25) + message(302, 0.5) +
          "EXIT lid=1 time=303\nEXIT lid=0 time=304\nEXIT lid=1 time=304\n";
  const std::string path = test::write_file("places.elg", "");
  ASSERT_TRUE(text_to_trace_file(text, path));
  const Result<TracePart> part = read_trace_part(path, report_of(2), 1'000'000);
  ASSERT_TRUE(part) << part.error().message();
  std::vector<double> seconds;
  for (const Instance& instance : part->instances) {
    if (instance.metric == "mpi_latesender") seconds.push_back(instance.seconds);
  }
  // The ten longest, and the longest of the other place.
  ASSERT_EQ(seconds.size(), 11u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(seconds[i], 5 + 0.125 * static_cast<double>(19 - i), 1e-6);
  }
  EXPECT_NEAR(seconds[10], 0.5, 1e-6);
}

TEST(HtmlInstances, CallsHaveTheFunctionsThatTheyStandIn) {
  const std::string path = test::write_file("callers.elg", "");
  ASSERT_TRUE(text_to_trace_file(R"(
CALL_SITE csid=0 fid=0 lno=39 erid=1 lrid=2
FILE fid=0 fnid=0
STRING strid=0 str="halo.c"
STRING strid=1 str="MPI_Barrier"
STRING strid=2 str="exchange"
REGION rid=1 rnid=1
REGION rid=2 rnid=2
ENTER lid=0 time=0 region=main
ENTER_CS lid=0 time=1 csid=0
MPI_COLLEXIT lid=0 time=2
EXIT lid=0 time=3
)",
                                 path));
  const std::string program = test::region(0, "main") + test::region(1, "MPI_Barrier") +
                              "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\" "
                              "line=\"39\" mod=\"halo.c\"></cnode></cnode>";
  const std::string text = test::report(test::metric(0, "time"), program, test::system_of(1), "");
  const Result<cube::Report> report = cube::read_report(test::write_file("callers.cube", text));
  ASSERT_TRUE(report) << report.error().message();
  const Result<TracePart> part = read_trace_part(path, *report, 1'000'000);
  ASSERT_TRUE(part) << part.error().message();
  EXPECT_EQ(part->callers, (std::vector<std::string>{"", "exchange"}));
}

// Waiting at a barrier of each of four ranks, on the only call path.
std::size_t waited_for(const std::string& values) {
  const std::string metrics = test::metric(
      0, "time", test::metric(1, "mpi_sync_collective", test::metric(2, "mpi_barrier_wait")));
  const cube::Report report =
      report_of(4, metrics,
                "<matrix metricId=\"0\"><row cnodeId=\"0\">10 10 10 10</row></matrix>"
                "<matrix metricId=\"2\"><row cnodeId=\"0\">" +
                    values + "</row></matrix>");
  const Overview overview = find_bottlenecks(report, expert::all_metrics());
  EXPECT_EQ(overview.bottlenecks.size(), 1u);
  return overview.bottlenecks.empty() ? cube::kNone : overview.bottlenecks[0].waited_for;
}

TEST(HtmlCause, TheOneThatHardlyWaitsIsWaitedFor) {
  EXPECT_EQ(waited_for("3 2 0 3"), 2u);
  EXPECT_EQ(waited_for("0.1 2 3 3"), 0u);         // 0.1 is below a tenth of the mean, 2.025
  EXPECT_EQ(waited_for("0 2 0 3"), cube::kNone);  // two of them: who it was is not in the report
  EXPECT_EQ(waited_for("1 2 3 3"), cube::kNone);
}

}  // namespace
}  // namespace kojak::html
