// What the summary and the findings say: shares that are true, what is to be gained, pairs
// synchronised in vain, time that no wait explains, messages that nobody received.
#include <gtest/gtest.h>

#include <sstream>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/trace_findings.h"
#include "expert/output/terminal.h"
#include "expert/profile/run_facts.h"

namespace kojak::expert {
namespace {

struct Said {
  std::string summary;  // blanks and line ends as one blank
  std::vector<Finding> findings;

  explicit Said(const std::string& text) {
    const auto made = text_to_trace(text, "text");
    if (!made) throw std::runtime_error(made.error().message());
    auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
    const Report report = analyse(*trace);
    findings = report.findings();
    std::ostringstream out;
    print_advice(out, report, {});
    std::istringstream words(out.str());
    for (std::string word; words >> word;) summary += summary.empty() ? word : ' ' + word;
  }
  bool says(const std::string& what) const { return summary.find(what) != std::string::npos; }
  const Finding* finding(const std::string& what) const {
    for (const Finding& f : findings) {
      if (f.what == what) return &f;
    }
    return nullptr;
  }
};

const std::string kRun = "MERGED_RUN run_hi=1 run_lo=1 size=2 missing=0 model=0 locks=0\n";

// Fences of two processes without any transfer: three in `a`, where rank 0 waits 1 s each, one in
// `b`, where it waits 2 s. 5 s in all, the largest part 3 s of them. From the second fence on each
// closes an epoch with one other member: 3 fences x 2 members = 6 pairs, none of them needed.
TEST(Said, OfFences) {
  std::string text = "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n";
  const auto at = [](double time) { return " time=" + std::to_string(time); };
  const auto fence = [&](double begin, double late) {
    text += "ENTER lid=0" + at(begin) + " region=MPI_Win_fence\nENTER lid=1" + at(begin + late) +
            " region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0" + at(begin + late) +
            " wid=0\nMPI_WINCOLLEXIT lid=1" + at(begin + late) + " wid=0\n";
  };
  const auto both = [&](const std::string& what, double time, const std::string& rest) {
    for (const char* lid : {"0", "1"}) text += what + " lid=" + lid + at(time) + rest + "\n";
  };
  both("ENTER", 1, " region=a");
  for (const double begin : {2.0, 4.0, 6.0}) fence(begin, 1);
  both("EXIT", 8, "");
  both("ENTER", 8, " region=b");
  fence(9, 2);
  both("EXIT", 12, "");
  both("EXIT", 20, "");
  const Said said(text);
  // 5 of 2 x 20 s are 12.5 %; 3 of 5 s are 60 %.
  EXPECT_TRUE(said.says(
      "Wait at Fence takes 12.5 % of the processes' time (5.000 s), most of it, 60 %, in main / "
      "a / MPI_Win_fence"))
      << said.summary;
  EXPECT_TRUE(said.says("There, all of it until rank 1 enters MPI_Win_fence.")) << said.summary;
  EXPECT_TRUE(said.says(
      "Without it the run would be at most 5.000 s shorter, which is what rank 0 waits."));
  EXPECT_TRUE(said.says("6 of 6 exchange nothing in their epoch")) << said.summary;
  EXPECT_FALSE(said.says("no pattern finds a wait there"));
}

// Both create a window at the same time, which takes 6 of 10 s: nobody waits, yet it is said.
TEST(Said, OfTimeThatNoWaitExplains) {
  const Said said(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Win_create\nENTER lid=1 time=1 region=MPI_Win_create\n"
      "MPI_WINCOLLEXIT lid=0 time=7 wid=0\nMPI_WINCOLLEXIT lid=1 time=7 wid=0\n"
      "EXIT lid=0 time=10\nEXIT lid=1 time=10\n");
  EXPECT_TRUE(said.says("No pattern of waiting takes more than 1 %")) << said.summary;
  EXPECT_TRUE(said.says(
      "Window Management (One-sided): 60.0 % of the processes' time (12.000 s) is spent in "
      "these calls, and no pattern finds a wait there; all of it in main / "
      "MPI_Win_create"))
      << said.summary;
}

const char* const kNotReceived =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Send\nMPI_SEND lid=0 time=1 dlid=1 tag=0 sent=8\n"
    "EXIT lid=0 time=2\nEXIT lid=0 time=3\nEXIT lid=1 time=3\n";

TEST(Said, AMessageThatNobodyReceivedIsANoteInACompleteTrace) {
  const Said said(kRun + kNotReceived);
  const Finding* found = said.finding("message that nobody received");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(found->severity, Finding::Severity::kNote);
  EXPECT_FALSE(any_suspect(said.findings));
}
TEST(Said, ItIsSuspectWhereTheReceiversTraceMayBeMissing) {
  std::string run = kRun;
  run.replace(run.find("missing=0"), 9, "missing=1");
  const Said said(run + kNotReceived);
  const Finding* found = said.finding("send without receive");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Finding::Severity::kSuspect);
}

// The receive at 2 was read before the send at 3: the clocks; with a message missing, not they.
TEST(Said, ClocksAreToBlameOnlyWhereNoMessageIsMissing) {
  const std::string backwards =
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=1 time=1 region=MPI_Recv\nMPI_RECV lid=1 time=2 slid=0 tag=0 recvd=8\n"
      "EXIT lid=1 time=2\nENTER lid=0 time=3 region=MPI_Send\n"
      "MPI_SEND lid=0 time=3 dlid=1 tag=0 sent=8\nEXIT lid=0 time=4\n";
  const std::string end = "EXIT lid=0 time=9\nEXIT lid=1 time=9\n";
  const Said clocks(kRun + backwards + end);
  const Finding* found = clocks.finding("receive before its send");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->advice.find("--clock clc"), std::string::npos);
  const Said missing(
      kRun + backwards +
      "ENTER lid=1 time=5 region=MPI_Recv\nMPI_RECV lid=1 time=6 slid=0 tag=1 recvd=8\n"
      "EXIT lid=1 time=6\n" +
      end);
  found = missing.finding("receive before its send");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->advice.find("--clock clc"), std::string::npos);
  // Nor is what has been done advised once more.
  const Said merged(kRun + "RUN_PROPERTY key=\"merge.clock\" value=\"clc\" pid=absent\n" +
                    backwards + end);
  found = merged.finding("receive before its send");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->advice.find("merge with --clock clc"), std::string::npos);
}

// Two processes of one communicator.
std::string of_two(const std::string& events) {
  return "MPI_GROUP gid=0 ranks=[0,1]\nMPI_COMM_REF cid=0 gid=0\n"
         "COMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n"
         "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n" +
         events + "EXIT lid=0 time=9\nEXIT lid=1 time=9\n";
}

// Rank 1 begins neither the barrier nor the second of two started broadcasts. Rank 0 waits for none
// of them.
TEST(Said, OfOperationsThatSomeNeverBegan) {
  const Said said(of_two(
      "ENTER lid=0 time=1 region=MPI_Ibarrier\n"
      "MPI_COLL_BEGIN lid=0 time=1 reqid=0 cid=0 key=0 ordinal=0 op=1\nEXIT lid=0 time=1\n"
      "ENTER lid=0 time=2 region=MPI_Start\n"
      "MPI_COLL_BEGIN lid=0 time=2 reqid=1 cid=0 key=5 ordinal=0 op=2\nEXIT lid=0 time=2\n"
      "ENTER lid=1 time=2 region=MPI_Start\n"
      "MPI_COLL_BEGIN lid=1 time=2 reqid=1 cid=0 key=5 ordinal=0 op=2\nEXIT lid=1 time=2\n"
      "ENTER lid=0 time=3 region=MPI_Start\n"
      "MPI_COLL_BEGIN lid=0 time=3 reqid=2 cid=0 key=5 ordinal=1 op=2\nEXIT lid=0 time=3\n"));
  const Finding* const found = said.finding(
      "collective operations that some members never began: MPI_Ibarrier on communicator 0, not by "
      "rank 1; MPI_Start of MPI_Bcast on communicator 0, not by rank 1");
  ASSERT_NE(found, nullptr) << (said.findings.empty() ? "" : said.findings.front().what);
  EXPECT_EQ(found->count, 2u);
  EXPECT_EQ(found->severity, Finding::Severity::kNote);  // less is known; nothing is wrong
}

// What makes a severity too low is told apart: rank 0 has waited for these, and can have waited for
// rank 1.
TEST(Said, OfOperationsThatSomeNeverBeganAndOthersWaitedFor) {
  const auto begun_and_completed = [](const char* op, const char* root, const char* by) {
    return of_two("ENTER lid=0 time=1 region=MPI_Ibarrier\nMPI_COLL_BEGIN lid=0 time=1 reqid=0 " +
                  std::string(root) + " cid=0 key=0 ordinal=0 op=" + op +
                  "\nEXIT lid=0 time=1\nENTER lid=0 time=2 region=" + by +
                  "\nMPI_REQUEST_COMPLETE lid=0 time=5 reqid=0 kind=1\nEXIT lid=0 time=5\n");
  };
  const std::string which = ": MPI_Ibarrier on communicator 0, not by rank 1";
  const std::string waited =
      "collective operation that some members never began, while others waited for them" + which;
  const std::string not_waited = "collective operation that some members never began" + which;
  struct {
    const char *op, *root, *by;
    bool suspect;
  } const cases[] = {
      {"1", "rlid=absent", "MPI_Wait", true},      // barrier
      {"1", "rlid=absent", "MPI_Test", false},     // a test waits for nobody
      {"10", "rlid=absent", "MPI_Waitall", true},  // allreduce
      {"2", "rlid=1", "MPI_Wait", true},           // broadcast, of the one that is missing
      {"2", "rlid=0", "MPI_Wait", false},          // its root waits for nobody
      {"7", "rlid=0", "MPI_Waitany", true},        // reduction, at its root
      {"7", "rlid=1", "MPI_Wait", false},          // and at another
      {"16", "rlid=absent", "MPI_Wait", false},    // scan: the first waits for nobody
  };
  for (const auto& c : cases) {
    const Said said(begun_and_completed(c.op, c.root, c.by));
    const Finding* const suspect = said.finding(waited);
    const Finding* const note = said.finding(not_waited);
    EXPECT_EQ(suspect != nullptr, c.suspect) << c.op << ' ' << c.root << ' ' << c.by;
    EXPECT_EQ(note == nullptr, c.suspect) << c.op << ' ' << c.root << ' ' << c.by;
    const Finding* const found = c.suspect ? suspect : note;
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, c.suspect ? Finding::Severity::kSuspect : Finding::Severity::kNote);
    EXPECT_EQ(found->count, 1u);
  }
}

// A call that all make together came to its end at rank 0, so rank 0 may have waited in it.
TEST(Said, OfACallThatSomeNeverCameTo) {
  const Said said(
      of_two("ENTER lid=0 time=4 region=MPI_Comm_dup\n"
             "MPI_GROUP_CALL lid=0 time=5 cid=0 key=0 ordinal=0\nEXIT lid=0 time=5\n"));
  const Finding* const found = said.finding(
      "collective operation that some members never began, while others waited for them: "
      "MPI_Comm_dup on communicator 0, not by rank 1");
  ASSERT_NE(found, nullptr) << (said.findings.empty() ? "" : said.findings.front().what);
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(found->severity, Finding::Severity::kSuspect);
}

// Two ranks of 10 s: MPI_Init takes 4 s of each; of the 12 s between, rank 0 waits 3 s for rank 1
// in the barrier and 1 s in MPI_Finalize, which ends at once for rank 1: start and end are 2 x 4 +
// 1 s, of which 1 s is waiting.
const char* const kStarted =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=0 region=MPI_Init\nENTER lid=1 time=0 region=MPI_Init\n"
    "EXIT lid=0 time=4\nEXIT lid=1 time=4\n"
    "ENTER lid=0 time=5 region=MPI_Barrier\nENTER lid=1 time=8 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=0 time=8\nMPI_COLLEXIT lid=1 time=8\n"
    "ENTER lid=0 time=9 region=MPI_Finalize\nENTER lid=1 time=10 region=MPI_Finalize\n"
    "MPI_GROUP_CALL lid=0 time=10 cid=0 key=2 ordinal=0\nEXIT lid=0 time=10\n"
    "MPI_GROUP_CALL lid=1 time=10 cid=0 key=2 ordinal=0\nEXIT lid=1 time=10\n"
    "EXIT lid=0 time=10\nEXIT lid=1 time=10\n";

std::string summary_of(const std::string& text, unsigned width) {
  const auto made = text_to_trace(text, "text");
  if (!made) throw std::runtime_error(made.error().message());
  auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
  AnalysisOptions options;
  options.root_causes = true;
  SummaryStyle style;
  style.width = width;
  std::ostringstream out;
  print_summary(out, analyse(*trace, options), style);
  return out.str();
}

TEST(Shares, AreOfTheTimeBetweenInitAndFinalize) {
  const std::string text = summary_of(kStarted, 80);
  const auto row = [&](const std::string& name) {
    const std::size_t at = text.find("  " + name + "\n");
    if (at == std::string::npos) return "no " + name + " in " + text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    std::string line;
    std::istringstream words(text.substr(begin, at - begin));
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
  };
  EXPECT_EQ(row("Time"), "20.000 100.0 %");           // 20 s, 8 of them left out: 12 of 12
  EXPECT_EQ(row("Init/Exit"), "9.000 8.3 %");         // 9 s, 8 of them left out: 1 of 12
  EXPECT_EQ(row("Wait at Finalize"), "1.000 8.3 %");  // 1 of 12
  EXPECT_EQ(row("Wait at Barrier"), "3.000 25.0 %");  // 3 of 12, not 3 of 20
  EXPECT_NE(text.find("the 8.000 s in which\n  MPI starts and ends are not in them"),
            std::string::npos)
      << text;
}

TEST(Shares, AreOfAllTimeWhereNothingStartsOrAllDoes) {
  const std::string all = "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n";
  const std::string none = summary_of(all + "EXIT lid=0 time=5\nEXIT lid=1 time=5\n", 80);
  EXPECT_NE(none.find("10.000   100.0 %  Time"), std::string::npos) << none;
  EXPECT_EQ(none.find("Shares are"), std::string::npos) << none;
  const std::string only = summary_of(
      "ENTER lid=0 time=0 region=MPI_Init\nENTER lid=1 time=0 region=MPI_Init\n"
      "EXIT lid=0 time=5\nEXIT lid=1 time=5\n",
      80);
  EXPECT_NE(only.find("10.000   100.0 %  Time"), std::string::npos) << only;
  EXPECT_EQ(only.find("Shares are"), std::string::npos) << only;
}

TEST(Width, NoLineIsWiderThanTheTerminalAndWideOnesAreUsed) {
  for (const unsigned width : {46U, 60U, 80U, 120U, 200U}) {
    std::size_t longest = 0;
    std::istringstream lines(summary_of(kStarted, width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), width) << line;
      longest = std::max(longest, line.size());
    }
    EXPECT_GT(longest, width - 20) << width;
  }
}

std::string facts_of(const std::string& text) {
  const auto made = text_to_trace(text, "text");
  if (!made) throw std::runtime_error(made.error().message());
  auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
  const Report report = analyse(*trace);
  std::string all;
  for (const auto& [name, value] : run_facts(report)) all += name + "=" + value + "|";
  return all;
}

const std::string kTwo =
    "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
    "EXIT lid=0 time=1\nEXIT lid=1 time=1\n";

TEST(Facts, OfARunAndOfItsProcesses) {
  const auto property = [](const std::string& key, const std::string& value, const char* pid) {
    return "RUN_PROPERTY key=\"" + key + "\" value=\"" + value + "\"" +
           (*pid == '\0' ? "" : std::string(" pid=") + pid) + "\n";
  };
  // Two programs in one run; MPI and start hold of all; a variable of one process.
  const std::string facts = facts_of(
      property("run.command", "./solve 100", "0") + property("run.command", "./io", "1") +
      property("run.start", "2026-11-23T14:05:09Z", "0") + property("mpi.library", "MPI 4", "") +
      property("env.OMP_NUM_THREADS", "2", "1") + kTwo);
  EXPECT_NE(facts.find("command=./io (rank 1); ./solve 100 (rank 0)|"), std::string::npos) << facts;
  EXPECT_NE(facts.find("start=2026-11-23T14:05:09Z|"), std::string::npos) << facts;
  EXPECT_NE(facts.find("mpi=MPI 4|"), std::string::npos) << facts;
  EXPECT_NE(facts.find("processes=2|threads=2|"), std::string::npos) << facts;
  EXPECT_NE(facts.find("env.OMP_NUM_THREADS=2 (rank 1)|"), std::string::npos) << facts;
}

TEST(Facts, OfATraceThatTellsNothing) {
  const std::string facts = facts_of(kTwo);
  for (const char* name : {"command=", "start=", "mpi=", "env."}) {
    EXPECT_EQ(facts.find(name), std::string::npos) << facts;
  }
  EXPECT_NE(facts.find("processes=2|"), std::string::npos) << facts;
}

}  // namespace
}  // namespace kojak::expert
