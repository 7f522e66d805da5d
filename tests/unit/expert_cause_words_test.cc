// Which function a root cause is said to compute in: no other than the trace knows of.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "expert/findings/cause_words.h"
#include "expert/findings/wait_words.h"
#include "expert/output/terminal.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

// Barriers at lines of halo.c: 12 and 14 in swap, 18 in residual, 30 and 31 in main, 40 in what
// Python calls the script itself; relax is a function that the trace records.
const char* const kCallers =
    "STRING strid=0 cntc=0 str=\"prog\"\n"
    "STRING strid=1 cntc=0 str=\"main\"\n"
    "STRING strid=2 cntc=0 str=\"swap\"\n"
    "STRING strid=3 cntc=0 str=\"residual\"\n"
    "STRING strid=4 cntc=0 str=\"relax\"\n"
    "STRING strid=5 cntc=0 str=\"MPI_Barrier\"\n"
    "STRING strid=6 cntc=0 str=\"halo.c\"\n"
    "STRING strid=7 cntc=0 str=\"<module>\"\n"
    "FILE fid=0 fnid=6\n"
    "REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=1 rnid=1 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=2 rnid=2 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=3 rnid=3 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=4 rnid=4 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=5 rnid=5 fid=absent begln=absent endln=absent rdid=absent rtype=4\n"
    "REGION rid=6 rnid=7 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
    "CALL_SITE csid=0 fid=0 lno=12 erid=5 lrid=2\n"
    "CALL_SITE csid=1 fid=0 lno=14 erid=5 lrid=2\n"
    "CALL_SITE csid=2 fid=0 lno=18 erid=5 lrid=3\n"
    "CALL_SITE csid=3 fid=0 lno=30 erid=5 lrid=1\n"
    "CALL_SITE csid=4 fid=0 lno=31 erid=5 lrid=1\n"
    "CALL_SITE csid=5 fid=0 lno=40 erid=5 lrid=6\n";
constexpr int kRanks = 3, kRecorded = 4;

class CalledRun {
 public:
  explicit CalledRun(const char* more = "") : definitions_(std::string(kCallers) + more) {
    for (int p = 0; p < kRanks; ++p) add(p, 0, "ENTER rid=0");
  }
  // At that call site; all leave when the last has come.
  void barrier(int site, const std::vector<double>& enters) {
    const double exit = *std::max_element(enters.begin(), enters.end());
    for (int p = 0; p < kRanks; ++p) {
      add(p, enters[static_cast<std::size_t>(p)], "ENTER_CS csid=" + std::to_string(site));
      add(p, exit, "MPI_COLLEXIT");
    }
  }
  void recorded(int process, double enter, double exit, int region) {
    add(process, enter, "ENTER rid=" + std::to_string(region));
    add(process, exit, "EXIT");
  }
  const Report& analyse_until(double last) {
    for (int p = 0; p < kRanks; ++p) add(p, last, "EXIT");
    AnalysisOptions options;
    options.root_causes = true;
    return report_.emplace(
        analyse_script(definitions_ + in_order_of_time(std::move(lines_)), trace_, options));
  }

 private:
  void add(int process, double time, const std::string& event) {
    const std::size_t name = std::min(event.find(' '), event.size());
    std::ostringstream line;
    line << event.substr(0, name) << " lid=" << process << " time=" << time << event.substr(name)
         << '\n';
    lines_.emplace_back(time, line.str());
  }

  std::string definitions_;
  ScriptLines lines_;
  std::optional<earl::Trace> trace_;
  std::optional<Report> report_;
};

std::string said_of(const Report& report, std::size_t cause) {
  return cause_words(report, report.root_causes()->causes.at(cause));
}

// The node above that of a stretch.
std::string node_above(const Report& report, const std::string& stretch) {
  for (const CallPathNode& node : report.call_paths()) {
    if (report.region_name(node.region) != stretch || node.parent == kNone) continue;
    return report.region_name(report.call_paths()[node.parent].region);
  }
  return "nothing";
}

std::string summary_of(const Report& report) {
  std::ostringstream out;
  print_summary(out, report, {});
  return out.str();
}

// Between two calls in swap rank 1 is outside of MPI 3 s longer, anywhere in the program: swap may
// have been left and called again. Then rank 2 is outside of MPI 2 s longer from a call in swap to
// one in residual, and at last rank 0 1 s longer between two calls in main, which encloses what it
// does. The others wait for 2 x 3, 2 x 2 and 2 x 1 s, and without it the run would be so much
// shorter.
TEST(CauseWords, WhereCallsAreIsNotWhatComputes) {
  constexpr int kSwap12 = 0, kSwap14 = 1, kResidual18 = 2, kMain30 = 3, kMain31 = 4;
  CalledRun run;
  run.barrier(kSwap12, {2, 2, 2});
  run.barrier(kSwap14, {3, 3, 3});
  run.barrier(kSwap12, {4, 7, 4});
  run.barrier(kResidual18, {8, 8, 10});
  run.barrier(kMain30, {11, 11, 11});
  run.barrier(kMain31, {13, 12, 12});
  const Report& report = run.analyse_until(14);
  ASSERT_EQ(report.root_causes()->causes.size(), 3u);
  EXPECT_NEAR(report.root_causes()->waits, 12, 1e-9);
  EXPECT_EQ(
      said_of(report, 0),
      "rank 1 is outside of MPI 3.000 s longer between halo.c:14 and halo.c:12 (both in swap)");
  EXPECT_EQ(said_of(report, 1),
            "rank 2 is outside of MPI 2.000 s longer between halo.c:12 (in swap) and halo.c:18 (in "
            "residual)");
  EXPECT_EQ(said_of(report, 2),
            "rank 0 is outside of MPI 1.000 s longer in main, between halo.c:30 and halo.c:31");
  EXPECT_FALSE(function_advice(report, report.root_causes()->causes[0]).empty());
  EXPECT_FALSE(function_advice(report, report.root_causes()->causes[1]).empty());
  EXPECT_TRUE(function_advice(report, report.root_causes()->causes[2]).empty());
  EXPECT_NE(summary_of(report).find("--sample"), std::string::npos) << summary_of(report);
  // In the tree: below the function that both calls are in, else below what encloses both.
  EXPECT_EQ(node_above(report, "between MPI_Barrier halo.c:14 and MPI_Barrier halo.c:12"), "swap");
  EXPECT_EQ(node_above(report, "between MPI_Barrier halo.c:12 and MPI_Barrier halo.c:18"), "main");
  EXPECT_EQ(node_above(report, "between MPI_Barrier halo.c:30 and MPI_Barrier halo.c:31"), "main");
}

// The library's functions sync and get, by which main calls it at lines 50, 52 and 54; of the
// barriers that come out of them no line is known.
const char* const kLibrary =
    "STRING strid=8 cntc=0 str=\"sync\"\n"
    "STRING strid=9 cntc=0 str=\"get\"\n"
    "REGION rid=8 rnid=8 fid=absent begln=absent endln=absent rdid=absent rtype=30\n"
    "REGION rid=9 rnid=9 fid=absent begln=absent endln=absent rdid=absent rtype=30\n"
    "CALL_SITE csid=10 fid=0 lno=50 erid=8 lrid=1\n"
    "CALL_SITE csid=11 fid=0 lno=52 erid=8 lrid=1\n"
    "CALL_SITE csid=12 fid=0 lno=54 erid=9 lrid=1\n"
    "CALL_SITE csid=20 fid=absent lno=absent erid=5 lrid=8\n"
    "CALL_SITE_CALLER csid=20 caller=10\n"
    "CALL_SITE csid=21 fid=absent lno=absent erid=5 lrid=8\n"
    "CALL_SITE_CALLER csid=21 caller=11\n"
    "CALL_SITE csid=22 fid=absent lno=absent erid=5 lrid=9\n"
    "CALL_SITE_CALLER csid=22 caller=12\n"
    "CALL_SITE csid=23 fid=absent lno=absent erid=10 lrid=9\n"
    "CALL_SITE_CALLER csid=23 caller=12\n"
    "STRING strid=10 cntc=0 str=\"MPI_Allreduce\"\n"
    "REGION rid=10 rnid=10 fid=absent begln=absent endln=absent rdid=absent rtype=7\n";

// From the sync of line 50 to that of line 52 rank 1 is outside of MPI 3 s longer, from there round
// the loop, 52 to 52, rank 2 2 s longer: the program's, since what comes out of the library at the
// same place begins anew. Within get, between its barrier and its MPI_Allreduce, rank 0 takes 1 s
// longer: the library's.
TEST(CauseWords, TheProgramComputesBetweenItsCallsOfALibrary) {
  constexpr int kSync50 = 20, kSync52 = 21, kGetBarrier = 22, kGetAllreduce = 23;
  CalledRun run(kLibrary);
  run.barrier(kSync50, {2, 2, 2});
  run.barrier(kSync52, {3, 6, 3});
  run.barrier(kSync52, {7, 7, 9});
  run.barrier(kGetBarrier, {10, 10, 10});
  run.barrier(kGetAllreduce, {12, 11, 11});
  const Report& report = run.analyse_until(14);
  ASSERT_EQ(report.root_causes()->causes.size(), 3u);
  EXPECT_EQ(said_of(report, 0),
            "rank 1 is outside of MPI 3.000 s longer in main, between sync at halo.c:50 and sync "
            "at halo.c:52");
  EXPECT_EQ(said_of(report, 1),
            "rank 2 is outside of MPI 2.000 s longer in main, between sync at halo.c:52 and sync "
            "at halo.c:52");
  EXPECT_EQ(said_of(report, 2), "rank 0 spends 1.000 s longer in get at halo.c:54");
  EXPECT_NEAR(report.root_causes()->waits, 2 * (3 + 2 + 1), 1e-9);
  EXPECT_EQ(node_above(report, "between sync halo.c:50 and sync halo.c:52"), "main");
  // A call within is named by both.
  const Waiter& waiter = report.waits().worst.front().waiters.front();
  EXPECT_EQ(call_name(report, waiter.ended_by.call_path), "MPI_Allreduce in get at halo.c:54");
}

// The same where the trace has the function that computes from 3 on: rank 1 is in relax until 7,
// the others until 4.
TEST(CauseWords, ARecordedFunctionComputes) {
  CalledRun run;
  run.barrier(0, {2, 2, 2});
  run.barrier(1, {3, 3, 3});
  run.recorded(0, 3, 4, kRecorded);
  run.recorded(1, 3, 7, kRecorded);
  run.recorded(2, 3, 4, kRecorded);
  run.barrier(0, {4, 7, 4});
  const Report& report = run.analyse_until(8);
  ASSERT_EQ(report.root_causes()->causes.size(), 1u);
  EXPECT_EQ(said_of(report, 0),
            "rank 1 is outside of MPI 3.000 s longer in relax, between halo.c:14 and halo.c:12 "
            "(both in swap)");
  EXPECT_EQ(summary_of(report).find("--sample"), std::string::npos) << summary_of(report);
}

// relax, which the trace has, calls the barrier of line 12. Rank 1 comes back to it 3 s later than
// the others: what it does from 3 to 7 is the program's, not relax's, though both calls around it
// are in relax.
TEST(CauseWords, TimeBetweenTwoCallsOfARecordedFunctionIsNotIts) {
  CalledRun run;
  for (int p = 0; p < kRanks; ++p) run.recorded(p, 2, 3, kRecorded);
  run.barrier(0, {2.5, 2.5, 2.5});
  for (int p = 0; p < kRanks; ++p) run.recorded(p, p == 1 ? 7 : 4, 7.5, kRecorded);
  run.barrier(0, {4.25, 7.25, 4.25});
  const Report& report = run.analyse_until(9);
  ASSERT_EQ(report.root_causes()->causes.size(), 1u);
  EXPECT_NEAR(report.root_causes()->causes[0].longer, 3, 1e-9);
  EXPECT_EQ(node_above(report, "between MPI_Barrier halo.c:12 and MPI_Barrier halo.c:12"), "prog");
}

// In a Python script main is a function as others are: it may be left and called again.
TEST(CauseWords, TheMainOfAScriptMayBeLeft) {
  constexpr int kMain30 = 3, kMain31 = 4, kModule40 = 5;
  CalledRun run;
  run.barrier(kModule40, {1, 1, 1});
  run.barrier(kMain30, {2, 2, 2});
  run.barrier(kMain31, {4, 3, 3});
  const Report& report = run.analyse_until(5);
  ASSERT_EQ(report.root_causes()->causes.size(), 1u);
  EXPECT_EQ(
      said_of(report, 0),
      "rank 0 is outside of MPI 1.000 s longer between halo.c:30 and halo.c:31 (both in main)");
}

// Before its first call and behind its last one a process may compute anywhere, too: rank 2 starts
// its first call, in swap, 2 s late.
TEST(CauseWords, BeforeTheFirstCall) {
  CalledRun run;
  run.barrier(0, {1, 1, 3});
  const Report& report = run.analyse_until(4);
  ASSERT_EQ(report.root_causes()->causes.size(), 1u);
  EXPECT_EQ(said_of(report, 0),
            "rank 2 is outside of MPI 2.000 s longer before MPI_Barrier at halo.c:12 (in swap)");
}

}  // namespace
}  // namespace kojak::expert
