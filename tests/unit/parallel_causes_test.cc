// Root causes of a run in slices: what the slices' logs make together.
//
// Expected costs and gains are sums of the times in the hand-made runs. That whole and in slices
// are equal, whatever a run does, parallel_local_slices_test.cc says by random programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/merge_runs.h"
#include "tests/unit/parallel_in_parts.h"

namespace kojak::test {
namespace {

// Barriers of two processes: when each comes to one after the other. All leave half a second after
// the last has come.
class BarrierRun {
 public:
  explicit BarrierRun(const std::string& definitions = "", const std::string& enter = "ENTER",
                      const std::string& call = " region=MPI_Barrier")
      : enter_(enter), call_(call) {
    for (std::string& text : text_) {
      text =
          "MPI_GROUP gid=0 mode=1 count=2 ranks=[]\nMPI_COMM_REF cid=0 gid=0\n"
          "COMM_IDENTITY cid=0 hi=1 lo=7 flags=0\n" +
          definitions;
    }
    add(0, "ENTER", 0, " region=main");
    add(1, "ENTER", 0, " region=main");
  }
  void enter(double of_0, double of_1) {
    add(0, enter_, of_0, call_);
    add(1, enter_, of_1, call_);
    left_ = std::max(of_0, of_1) + 0.5;
  }
  // Wrong use: they call two functions.
  void two_functions(double both) {
    add(0, "ENTER", both, " region=MPI_Allgather");
    add(1, "ENTER", both, " region=MPI_Allgatherv");
    left_ = both + 0.5;
    leave();
  }
  void leave() {
    for (const std::uint32_t rank : {0u, 1u}) {
      add(rank, "MPI_COLLEXIT", left_, " rlid=absent cid=0 sent=0 recvd=0");
    }
  }
  void barrier(double of_0, double of_1) {
    enter(of_0, of_1);
    leave();
  }
  // What the kernel says of rank 1: for how many seconds it has run, and that it slept meanwhile.
  void reading(double time, double ran, bool slept) {
    add(1, "PROCESSOR", time,
        " ran=" + std::to_string(static_cast<std::uint64_t>(ran * 1e9)) +
            " wanted=0 preempted=0 blocked_kind=" + (slept ? "1" : "0"));
  }
  // A region of the program within the call.
  void nested(std::uint32_t rank, double from, double to) {
    add(rank, "ENTER", from, " region=inner");
    add(rank, "EXIT", to, "");
  }
  LocalRun& end(double time) {
    for (const std::uint32_t rank : {0u, 1u}) {
      add(rank, "EXIT", time, "");
      run_.add(rank, text_[rank]);
    }
    return run_;
  }

 private:
  void add(std::uint32_t rank, const std::string& record, double time, const std::string& rest) {
    text_[rank] += record + " lid=" + std::to_string(rank) + " time=" + std::to_string(time) + rest;
    text_[rank] += '\n';
  }
  std::string enter_, call_;
  std::string text_[2];
  double left_ = 0;
  LocalRun run_{2};
};

// Rank 1 comes 3 s late to the first barrier, rank 0 as much to the second, rank 1 then 2 s; to the
// last one both come together. What a barrier begins later by, all that follows does.
TEST(CausesInParts, CostsAndGainsAddUp) {
  BarrierRun made;
  made.barrier(1, 4);
  made.barrier(9, 6);
  made.barrier(10, 12);
  made.barrier(13, 13);
  LocalRun& run = made.end(14);
  for (const char* at : {"0", "1", "2", "0,2", "all"}) {
    const auto slices = slices_of(run.options());
    const InParts parts(*slices, at);
    ASSERT_EQ(parts.why(), "") << at;
    const expert::RootCauses& found = *parts.report().root_causes();
    EXPECT_EQ(found.waits, 3 + 3 + 2) << at;
    EXPECT_EQ(found.unexplained, 0) << at;
    EXPECT_EQ(found.path_length, 14) << at;
    ASSERT_EQ(found.causes.size(), 3u) << at;
    const struct {
      expert::LocationIndex location;
      double seconds;
    } wanted[] = {{0, 3}, {1, 3}, {1, 2}};
    for (std::size_t i = 0; i < 3; ++i) {
      const expert::RootCause& cause = found.causes[i];
      EXPECT_EQ(cause.location, wanted[i].location) << at << ", " << i;
      EXPECT_EQ(cause.seconds, wanted[i].seconds) << at << ", " << i;
      EXPECT_EQ(cause.longer, wanted[i].seconds) << at << ", " << i;
      EXPECT_EQ(cause.gain, wanted[i].seconds) << at << ", " << i;
      ASSERT_EQ(cause.chain.links.size(), 1u) << at << ", " << i;
      EXPECT_EQ(cause.chain.links[0].waiter, 1 - wanted[i].location) << at << ", " << i;
    }
    // The path goes with who comes late: rank 1 until 4, rank 0 until 9, rank 1 until 12; then with
    // rank 0, the first of those who end last.
    ASSERT_EQ(found.path_parts.size(), 4u) << at;
    const double ends[] = {4, 9, 12, 14};
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(found.path_parts[i].end, ends[i]) << at << ", " << i;
      EXPECT_EQ(found.path_parts[i].location, i % 2 == 0 ? 1u : 0u) << at << ", " << i;
    }
  }
}

// Rank 1 comes to the second barrier at 12, rank 0 at 6: 7.5 s and 1.5 s after the first one, in
// which rank 1 slept for 5 of the 6 s that it took longer. That is the time between two readings
// less what it ran: the first of them lies before the barrier, or in it.
TEST(CausesInParts, WhatAReadingBeforeTellsOf) {
  for (const bool within : {false, true}) {
    BarrierRun made("RUN_PROPERTY key=\"processor.stretches\" value=\"0.001\" pid=absent\n");
    made.reading(2, 2, false);
    made.enter(1, 4);
    if (within) made.reading(4.25, 4, false);
    made.leave();
    made.reading(11, within ? 4 + (11 - 4.25) - 5 : 2 + (11 - 2) - 5, true);
    made.barrier(6, 12);
    LocalRun& run = made.end(14);
    for (const char* at : {"0", "all"}) {
      const auto slices = slices_of(run.options());
      const InParts parts(*slices, at);
      ASSERT_EQ(parts.why(), "") << at;
      const expert::RootCause& cause = parts.report().root_causes()->causes.at(0);
      EXPECT_EQ(cause.location, 1u) << at;
      EXPECT_EQ(cause.longer, 6) << at;
      ASSERT_TRUE(cause.spent.has_value()) << at;
      EXPECT_NEAR(cause.spent->blocked, 5, 1e-9) << at;
      EXPECT_NEAR(cause.spent->ran, 1, 1e-9) << at;
    }
  }
}

// In the first barrier rank 0 is in a function of its own from 2 to 4.25, in which it does not
// wait; the second slice begins at 4. Rank 0 comes 4 s late to the second barrier.
TEST(CausesInParts, WhatIsNestedInTheCallWhereAPartBegins) {
  BarrierRun made;
  made.enter(1, 4);
  made.nested(0, 2, 4.25);
  made.nested(1, 4, 4.25);
  made.leave();
  made.barrier(10, 6);
  LocalRun& run = made.end(14);
  const auto slices = slices_of(run.options());
  const InParts parts(*slices, "0");
  ASSERT_EQ(parts.why(), "");
  const expert::RootCauses& found = *parts.report().root_causes();
  EXPECT_EQ(found.waits, 1 + 4);
  ASSERT_EQ(found.causes.size(), 2u);
  EXPECT_EQ(found.causes[0].location, 0u);
  EXPECT_EQ(found.causes[0].seconds, 4);
  // Backward: rank 0 until 10, out of the second barrier, through what is nested, in both slices.
  double nested = 0;
  for (const expert::PathShare& share : found.critical_path) {
    const std::size_t path = share.stretch.path;
    if (share.stretch.kind != expert::Stretch::Kind::kCall || share.location != 0) continue;
    if (parts.report().region_name(parts.report().call_paths()[path].region) == "inner") {
      nested += share.seconds;
    }
  }
  EXPECT_EQ(nested, 0.25 + 2);
}

// Cut where they call different functions: nobody says when all had come there, and one process
// finds the causes. What is 7 s long behind the barrier is not lost.
TEST(CausesInParts, NotWhereTheyDoNotMeet) {
  BarrierRun made;
  made.barrier(1, 4);
  made.two_functions(8);
  made.barrier(10, 9);
  LocalRun& run = made.end(14);
  for (const char* at : {"1", "all"}) {
    const auto slices = slices_of(run.options());
    EXPECT_EQ(InParts(*slices, at).why(), "not all met in the call at which it was to be cut")
        << at;
  }
  const auto slices = slices_of(run.options());
  EXPECT_EQ(InParts(*slices, "0").why(), "");
}

// Three groups, of which two slices have two and one: as many as can be numbered in the whole run,
// or one more.
TEST(CausesInParts, WhatTheWholeRunCannotNumber) {
  BarrierRun made;
  made.barrier(1, 4);
  made.barrier(9, 6);
  made.barrier(10, 12);
  LocalRun& run = made.end(14);
  for (const std::size_t most : {3u, 4u}) {
    const auto slices = slices_of(run.options());
    const InParts parts(*slices, "0", {},
                        [&](const earl::Trace&, expert::AnalysisOptions& options) {
                          options.most_of_root_causes = most;
                        });
    EXPECT_EQ(parts.why(), most == 3 ? "it has more waits than can be numbered" : "");
  }
}

// Whether a call goes on with the library's call before it, the part behind it does not know.
TEST(CausesInParts, NotBehindTheCallOfALibrary) {
  constexpr const char* kSites =
      "STRING strid=50 cntc=0 str=\"sync\"\n"
      "REGION rid=50 rnid=50 fid=absent begln=absent endln=absent rdid=absent rtype=30\n"
      "STRING strid=51 cntc=0 str=\"MPI_Barrier\"\n"
      "REGION rid=51 rnid=51 fid=absent begln=absent endln=absent rdid=absent rtype=7\n"
      "STRING strid=52 cntc=0 str=\"halo.c\"\n"
      "FILE fid=50 fnid=52\n"
      "CALL_SITE csid=10 fid=50 lno=50 erid=50 lrid=absent\n"
      "CALL_SITE csid=20 fid=absent lno=absent erid=51 lrid=50\n"
      "CALL_SITE_CALLER csid=20 caller=10\n";
  BarrierRun made(kSites, "ENTER_CS", " csid=20");
  made.barrier(1, 4);
  made.barrier(9, 6);
  LocalRun& run = made.end(14);
  const auto slices = slices_of(run.options());
  const InParts parts(*slices, "0");
  EXPECT_EQ(parts.why(), "it was to be cut in a call of a library, and root causes are looked for");
}

}  // namespace
}  // namespace kojak::test
