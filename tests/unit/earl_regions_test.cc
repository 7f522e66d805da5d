// Region stacks, call paths, exclusive times, holes, counters, pauses.
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {
namespace {

TEST(EarlRegions, NestedAndRecursiveInstancesAreCallPathsOfTheirOwn) {
  const Pass run(R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=f
ENTER lid=0 time=2 region=f
EXIT lid=0 time=4
EXIT lid=0 time=7
ENTER lid=0 time=8 region=f
EXIT lid=0 time=9
EXIT lid=0 time=10
)");
  run.expect_only({});
  ASSERT_EQ(run.out.calls.size(), 4u);
  EXPECT_EQ(run.path(run.out.calls[0].cnode), "main/f/f");
  EXPECT_EQ(run.path(run.out.calls[1].cnode), "main/f");
  EXPECT_EQ(run.out.calls[2].cnode, run.out.calls[1].cnode);
  // Exclusive: f/f [2,4] 2; f [1,7] 6-2; f [8,9] 1; main [0,10] 10-6-1.
  EXPECT_EQ(run.out.calls[0].exclusive.value, 2);
  EXPECT_EQ(run.out.calls[1].exclusive.value, 4);
  EXPECT_EQ(run.out.calls[2].exclusive.value, 1);
  EXPECT_EQ(run.out.calls[3].exclusive.value, 3);
  EXPECT_EQ(run.out.calls[3].enter_pos, 0u);
  EXPECT_EQ(run.out.calls[3].exit_pos, 7u);
  EXPECT_EQ(run.tree.size(), 3u);
  EXPECT_EQ(run.tree[run.out.calls[2].cnode].first_enter, 1u);  // cnodeptr: the first one
  EXPECT_TRUE(run.out.ended);
}

TEST(EarlRegions, CallSitesDistinguishCallPathsAndLocationsShareThem) {
  const Pass run(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER_CS lid=0 time=1 region=f site="a.c:1"
ENTER_CS lid=1 time=1 region=f site="a.c:1"
EXIT lid=0 time=2
EXIT lid=1 time=2
ENTER_CS lid=0 time=3 region=f site="a.c:2"
EXIT lid=0 time=4
EXIT lid=0 time=5
EXIT lid=1 time=5
)");
  run.expect_only({});
  ASSERT_EQ(run.out.calls.size(), 5u);
  EXPECT_EQ(run.out.calls[0].cnode, run.out.calls[1].cnode);
  EXPECT_NE(run.out.calls[0].cnode, run.out.calls[2].cnode);
  EXPECT_EQ(run.tree.size(), 3u);
}

TEST(EarlRegions, ManyChildrenOfOneRegionAreFoundAgain) {
  std::string text = "ENTER lid=0 time=0 region=main\n";
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 500; ++i) {
      const std::string time = std::to_string(1 + round * 500 + i);
      text += "ENTER lid=0 time=" + time + " region=r" + std::to_string(i) + "\n";
      text += "EXIT lid=0 time=" + time + "\n";
    }
  }
  text += "EXIT lid=0 time=2000\n";
  const Pass run(text);
  run.expect_only({});
  EXPECT_EQ(run.tree.size(), 501u);
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(run.out.calls[static_cast<std::size_t>(i)].cnode,
              run.out.calls[static_cast<std::size_t>(500 + i)].cnode);
  }
}

TEST(EarlRegions, AnMpiCallKnowsItsHolesAndUserFunctionsDoNot) {
  const Pass run(R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Barrier
ENTER_TRACING lid=0 time=2
EXIT_TRACING lid=0 time=3
ENTER lid=0 time=4 region=user_op
ENTER lid=0 time=5 region=helper
EXIT lid=0 time=6
EXIT lid=0 time=7
EXIT lid=0 time=10
EXIT lid=0 time=11
)");
  run.expect_only({});
  const auto barrier = run.out.calls_of("MPI_Barrier", *run.trace);
  ASSERT_EQ(barrier.size(), 1u);
  ASSERT_EQ(barrier[0].holes.span().size(), 2u);
  EXPECT_EQ(barrier[0].holes.span()[0].begin.value, 2);
  EXPECT_EQ(barrier[0].holes.span()[1].begin.value, 4);
  EXPECT_EQ(barrier[0].holes.span()[1].end.value, 7);
  EXPECT_EQ(barrier[0].exclusive.value, 9 - 1 - 3);
  // [0,6.5] of [1,10] is [1,6.5]: 5.5, less [2,3] and [4,6.5].
  EXPECT_EQ(overlap(barrier[0], {0}, {6.5}).value, 5.5 - 1 - 2.5);
  EXPECT_EQ(overlap(barrier[0], {6.5}, {0}).value, 0);
  EXPECT_TRUE(run.out.calls_of("user_op", *run.trace)[0].holes.empty());
  EXPECT_TRUE(run.out.calls_of("main", *run.trace)[0].holes.empty());
  EXPECT_EQ(run.path(run.out.calls_of("TRACING", *run.trace)[0].cnode), "main/MPI_Barrier/TRACING");
}

TEST(EarlRegions, CountersAreExclusiveToo) {
  const Pass run(R"(
METRIC metid=0 metnid="FLOPS"
ENTER lid=0 time=0 region=main metv=[100]
ENTER lid=0 time=1 region=f metv=[110]
EXIT lid=0 time=2 metv=[140]
ENTER lid=0 time=3 region=f metv=[145]
EXIT lid=0 time=4 metv=[146]
EXIT lid=0 time=5 metv=[150]
)");
  run.expect_only({});
  ASSERT_EQ(run.out.metrics.size(), 3u);
  EXPECT_EQ(run.out.metrics[0], std::vector<std::uint64_t>{30});
  EXPECT_EQ(run.out.metrics[1], std::vector<std::uint64_t>{1});
  EXPECT_EQ(run.out.metrics[2], std::vector<std::uint64_t>{50 - 31});
}

// The same counts told in other ways: main has 10 before f and 5 after it, f 30.
TEST(EarlRegions, CountersTellOfIntervalsOrInFractions) {
  const auto text = [](const char* kind, const char* values[4]) {
    return std::string("METRIC metid=0 metnid=\"C\" ") + kind +
           "\nENTER lid=0 time=0 region=main metv=[" + values[0] +
           "]\nENTER lid=0 time=1 region=f metv=[" + values[1] + "]\nEXIT lid=0 time=2 metv=[" +
           values[2] + "]\nEXIT lid=0 time=5 metv=[" + values[3] + "]\n";
  };
  // Since the last event: what came before main does not count.
  const char* last[] = {"7", "10", "30", "5"};
  const Pass since(text("interval=1", last).c_str());
  ASSERT_EQ(since.out.metrics.size(), 2u);
  EXPECT_EQ(since.out.metrics[0], std::vector<std::uint64_t>{30});
  EXPECT_EQ(since.out.metrics[1], std::vector<std::uint64_t>{10 + 5});
  // Up to the next event: what comes after main does not count.
  const char* next[] = {"10", "30", "5", "7"};
  const Pass until(text("interval=2", next).c_str());
  ASSERT_EQ(until.out.metrics.size(), 2u);
  EXPECT_EQ(until.out.metrics[0], std::vector<std::uint64_t>{30});
  EXPECT_EQ(until.out.metrics[1], std::vector<std::uint64_t>{10 + 5});
  // 0.5, 1.5, 2.25, 3: f has 0.75, main 2.5 - 0.75. As bits of a double: sign, exponent, fraction.
  const char* real[] = {"4602678819172646912", "4609434218613702656", "4612248968380809216",
                        "4613937818241073152"};
  const Pass fractions(text("dtype=1", real).c_str());
  ASSERT_EQ(fractions.out.metrics.size(), 2u);
  EXPECT_EQ(std::bit_cast<double>(fractions.out.metrics[0][0]), 0.75);
  EXPECT_EQ(std::bit_cast<double>(fractions.out.metrics[1][0]), 1.75);
}

TEST(EarlRegions, UnbalancedRecordsAreCountedAndTimeIsKept) {
  const Pass run(R"(
EXIT lid=0 time=0
ENTER lid=0 time=1 region=main
LOG_ON lid=0 time=2
ENTER lid=0 time=3 region=f
EXIT_TRACING lid=0 time=4
)");
  EXPECT_EQ(run.count(Finding::kUnbalancedExit), 3u);
  EXPECT_EQ(run.count(Finding::kOpenAtEnd), 2u);
  ASSERT_EQ(run.out.calls.size(), 2u);
  // Closed at the location's last event, innermost first.
  EXPECT_EQ(run.path(run.out.calls[0].cnode), "main/f");
  EXPECT_TRUE(run.out.calls[0].incomplete);
  EXPECT_EQ(run.out.calls[0].exclusive.value, 1);
  EXPECT_EQ(run.out.calls[1].exclusive.value, 2);
}

TEST(EarlRegions, APauseIsARegionAndMarksTheCallsAroundIt) {
  const Pass run(R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Pcontrol
LOG_OFF lid=0 time=2
LOG_ON lid=0 time=5
EXIT lid=0 time=6
ENTER lid=0 time=7 region=f
EXIT lid=0 time=8
EXIT lid=0 time=9
)");
  run.expect_only({});
  const auto pausing = run.out.calls_of("PAUSING", *run.trace);
  ASSERT_EQ(pausing.size(), 1u);
  EXPECT_EQ(pausing[0].exclusive.value, 3);
  EXPECT_TRUE(run.out.calls_of("MPI_Pcontrol", *run.trace)[0].paused);
  EXPECT_TRUE(run.out.calls_of("main", *run.trace)[0].paused);
  EXPECT_FALSE(run.out.calls_of("f", *run.trace)[0].paused);
}

TEST(EarlRegions, WhatAWaitCompletedIsToldWithTheCall) {
  const Pass run(R"(
ENTER lid=0 time=0 region=MPI_Wait
MPI_REQUEST_COMPLETE lid=0 time=1 reqid=1 kind=1
EXIT lid=0 time=1
ENTER lid=0 time=2 region=MPI_Wait
MPI_REQUEST_COMPLETE lid=0 time=3 reqid=2 kind=2
MPI_RMA_COMPLETE lid=0 time=3 rmaid=4
EXIT lid=0 time=3
ENTER lid=0 time=4 region=MPI_Wait
EXIT lid=0 time=5
)");
  run.expect_only({Finding::kUnknownRequest});  // nothing says where the collective began
  EXPECT_EQ(run.out.calls[0].completed, kCompletedCollective);
  EXPECT_EQ(run.out.calls[1].completed, kCompletedIo | kCompletedRma);
  EXPECT_EQ(run.out.calls[2].completed, 0);
}

}  // namespace
}  // namespace kojak::earl
