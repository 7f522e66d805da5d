// Collective operations that one call begins and another completes, under wrong clocks: what the
// traces prove moves, all else stays; with times from paper.
#include <gtest/gtest.h>

#include <cstdio>

#include "merge/clock/begun_calls.h"
#include "tests/support/clock_runs.h"

namespace kojak::test {
namespace {

// A trace, event by event.
class Events {
 public:
  explicit Events(std::uint32_t rank) : rank_(rank) { event(0, "ENTER", "region=main"); }

  Events& event(double time, const char* name, const std::string& fields) {
    char head[80];
    std::snprintf(head, sizeof head, "%s lid=%u time=%.12g ", name, rank_, time);
    text_ += head + fields + "\n";
    return *this;
  }
  struct Operation {
    int request, op;
    std::string root = "absent";
    int sent = 8, got = 8, key = 0, ordinal = 0;
  };
  Events& begin(double enter, double exit, const Operation& o) {
    const auto text = [](int n) { return std::to_string(n); };
    return event(enter, "ENTER", "region=MPI_Ibarrier")
        .event(enter, "MPI_COLL_BEGIN",
               "reqid=" + text(o.request) + " rlid=" + o.root + " cid=0 key=" + text(o.key) +
                   " ordinal=" + text(o.ordinal) + " op=" + text(o.op) + " sent=" + text(o.sent) +
                   " recvd=" + text(o.got))
        .event(exit, "EXIT", "");
  }
  Events& wait(double enter, double exit, const std::vector<int>& requests) {
    event(enter, "ENTER", "region=MPI_Waitall");
    for (const int r : requests) {
      event(exit, "MPI_REQUEST_COMPLETE", "reqid=" + std::to_string(r) + " kind=1");
    }
    return event(exit, "EXIT", "");
  }
  std::string done() const {
    Events whole = *this;
    return whole.event(100, "EXIT", "").text_;
  }

 private:
  std::uint32_t rank_;
  std::string text_;
};

constexpr int kBarrier = 1, kBcast = 2, kReduce = 7, kAllreduce = 10, kScan = 16,
              kNeighborAllgather = 18;

class BegunCallsMerged : public ClockRun {
 protected:
  void merge(std::vector<std::string> traces, const std::string& definitions = "") {
    const std::string comm = world(static_cast<std::uint32_t>(traces.size()));
    for (std::string& trace : traces) {
      if (!trace.empty()) trace.insert(0, comm + definitions);
    }
    ClockRun::merge(traces);
  }
  // When each of a process's requests is found complete, in the order of the trace.
  std::vector<double> completions(std::uint32_t rank) const {
    std::vector<double> times;
    for (const auto& event : support::merged_events(run->merged)) {
      if (event.lid == rank && event.name == "MPI_REQUEST_COMPLETE") times.push_back(event.time);
    }
    return times;
  }
  void expect_completions(std::uint32_t rank, const std::vector<double>& expected) const {
    const std::vector<double> found = completions(rank);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8);
  }
};

TEST_F(BegunCallsMerged, ABarrierIsCompleteNowhereBeforeAllHaveBegunIt) {
  // Process 0 finds it complete at 3, 2 s before process 1 begins it, at 5.
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  merge({Events(0).begin(1, 1.5, barrier).wait(2, 3, {1}).done(),
         Events(1).begin(5, 5.5, barrier).wait(6, 7, {1}).done()});
  expect({.checked = 2, .before = 1, .unchecked = 0, .worst = 2});
  expect_completions(0, {5});
  expect_completions(1, {7});
}

TEST_F(BegunCallsMerged, ACompletionRightAfterTheLastBeginStays) {
  // Just after 5; and at 5 itself it is no violation, but the order in the file is made certain.
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  merge({Events(0).begin(1, 1.5, barrier).wait(2, 5.000001, {1}).done(),
         Events(1).begin(5, 5.5, barrier).wait(6, 7, {1}).done()});
  expect({.before = 0, .stays = true});
  merge({Events(0).begin(1, 1.5, barrier).wait(2, 5, {1}).done(),
         Events(1).begin(5, 5.5, barrier).wait(6, 7, {1}).done()});
  expect({.before = 0});
  EXPECT_GT(completions(0).at(0), 5);
  EXPECT_LT(completions(0).at(0), 5 + 1e-8);
}

TEST_F(BegunCallsMerged, ABroadcastNeedsItsRootOnly) {
  // The root, 1, begins at 4 and finds it complete at 4.5, long before process 2 begins at 9.
  // Process 0 finds it complete at 3, 1 s before the root begins.
  const Events::Operation takes{1, kBcast, "1", 0, 8}, gives{1, kBcast, "1", 8, 0};
  merge({Events(0).begin(1, 1.5, takes).wait(2, 3, {1}).done(),
         Events(1).begin(4, 4.1, gives).wait(4.2, 4.5, {1}).done(),
         Events(2).begin(9, 9.5, takes).wait(10, 11, {1}).done()});
  expect({.checked = 2, .before = 1, .worst = 1});
  expect_completions(0, {4});
  expect_completions(1, {4.5});
  expect_completions(2, {11});
}

TEST_F(BegunCallsMerged, AReductionIsCompleteAtTheRootAfterThoseThatGive) {
  // Root 0; process 1 begins at 4, and 2 at 8 without data. Nobody else waits.
  const Events::Operation root{1, kReduce, "0", 8, 8}, gives{1, kReduce, "0", 8, 0},
      nothing{1, kReduce, "0", 0, 0};
  merge({Events(0).begin(1, 1.5, root).wait(2, 3, {1}).done(),
         Events(1).begin(4, 4.1, gives).wait(4.2, 4.5, {1}).done(),
         Events(2).begin(8, 8.5, nothing).wait(9, 9.5, {1}).done()});
  expect({.checked = 1, .before = 1});
  expect_completions(0, {4});
  expect_completions(1, {4.5});
}

TEST_F(BegunCallsMerged, AScanNeedsTheLowerRanks) {
  // Process 1 needs 0, which begins at 6; process 0 needs nobody, though 2 begins at 9.
  const Events::Operation scan{1, kScan};
  merge({Events(0).begin(6, 6.5, scan).wait(7, 7.5, {1}).done(),
         Events(1).begin(1, 1.5, scan).wait(2, 4, {1}).done(),
         Events(2).begin(9, 9.5, scan).wait(10, 11, {1}).done()});
  expect({.checked = 2, .before = 1, .worst = 2});
  expect_completions(0, {7.5});
  expect_completions(1, {6});
}

TEST_F(BegunCallsMerged, OperationsAreToldApartByTheirNumbers) {
  // Two reductions to all, which process 0 completes in the other order, and process 1 in one
  // call. The second (ordinal 1) begins at 1 at process 0 and at 6 at process 1, the first at 0.5
  // and at 2. So 0 completes the second, at 3, too early by 3 s. The first is complete at 3.5 as
  // recorded, which then follows: 0.5 s later, less 1 %.
  const Events::Operation first{1, kAllreduce, "absent", 8, 8, 0, 0},
      second{2, kAllreduce, "absent", 8, 8, 0, 1};
  merge({Events(0)
             .begin(0.5, 0.6, first)
             .begin(1, 1.5, second)
             .wait(2, 3, {2})
             .wait(3, 3.5, {1})
             .done(),
         Events(1).begin(2, 2.5, first).begin(6, 6.5, second).wait(7, 8, {1, 2}).done()});
  expect({.checked = 4, .before = 1, .worst = 3});
  expect_completions(0, {6, 6.495});
  expect_completions(1, {8, 8});
}

TEST_F(BegunCallsMerged, StartsOfPersistentOperationsArePairedByTheirKeys) {
  // Two persistent barriers (keys 1 and 2), each started twice; process 1 starts them in the other
  // order. Only the second start of key 2 is too early at process 0: complete at 6, begun at 8.
  // What lies 2 s before is drawn after it, to 8 - 2.02; what comes 4 s after it follows at 8
  // + 3.96.
  const auto start = [](int request, int key, int ordinal) {
    return Events::Operation{request, kBarrier, "absent", 0, 0, key, ordinal};
  };
  merge({Events(0)
             .begin(1, 1, start(1, 1, 1))
             .begin(1, 1.5, start(2, 2, 1))
             .wait(2, 4, {1, 2})
             .begin(5, 5, start(3, 1, 2))
             .begin(5, 5.5, start(4, 2, 2))
             .wait(5.5, 6, {4})
             .wait(9, 10, {3})
             .done(),
         Events(1)
             .begin(2, 2, start(1, 2, 1))
             .begin(3, 3.5, start(2, 1, 1))
             .wait(3.5, 4, {1, 2})
             .begin(8, 8, start(3, 2, 2))
             .begin(9, 9.5, start(4, 1, 2))
             .wait(9.5, 12, {3, 4})
             .done()});
  expect({.checked = 8, .before = 1, .unchecked = 0, .worst = 2});
  expect_completions(0, {5.98, 5.98, 8, 11.96});
}

TEST_F(BegunCallsMerged, NeighboursInAGraph) {
  // 0 takes of 1, 1 of 2, and 2 of itself. Process 1 begins at 4, 2 at 6.
  const std::string graph =
      "GRAPH_NEIGHBOURS cid=0 pid=0 kind=1 first=0 ranks=[1]\n"
      "GRAPH_NEIGHBOURS cid=0 pid=1 kind=1 first=0 ranks=[2]\n"
      "GRAPH_NEIGHBOURS cid=0 pid=2 kind=1 first=0 ranks=[2,2]\n";
  const Events::Operation near{1, kNeighborAllgather};
  merge({Events(0).begin(1, 1.5, near).wait(2, 3, {1}).done(),
         Events(1).begin(4, 4.1, near).wait(4.2, 4.5, {1}).done(),
         Events(2).begin(6, 6.1, near).wait(6.2, 6.5, {1}).done()},
        graph);
  expect({.checked = 2, .before = 2, .unchecked = 0, .worst = 1.5});
  expect_completions(0, {4});
  expect_completions(1, {6});
  expect_completions(2, {6.5});
}

TEST_F(BegunCallsMerged, ABeginIsNotDrawnBehindACompletionThatNeedsIt) {
  // Process 1 begins at 8, and receives at 9.5 what process 0 sends at 10: it moves by 0.5 s. What
  // lies before would be drawn after it, but process 2, whose clock is right, finds the operation
  // complete at 8.1, so the begin goes no further.
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  merge({Events(0)
             .begin(1, 1.5, barrier)
             .wait(2, 9, {1})
             .event(10, "ENTER", "region=MPI_Send")
             .event(10, "MPI_SEND", "dlid=1 cid=0 tag=1 sent=8")
             .event(10.25, "EXIT", "")
             .done(),
         Events(1)
             .begin(8, 8.5, barrier)
             .event(9, "ENTER", "region=MPI_Recv")
             .event(9.5, "MPI_RECV", "slid=0 cid=0 tag=1 recvd=8")
             .event(9.5, "EXIT", "")
             .wait(11, 12, {1})
             .done(),
         Events(2).begin(2, 2.5, barrier).wait(3, 8.1, {1}).done()});
  expect({.before = 1});
  for (const auto& event : support::merged_events(run->merged)) {
    if (event.lid == 1 && event.name == "MPI_COLL_BEGIN") {
      EXPECT_NEAR(event.time, 8.1, 1e-8);
      EXPECT_LT(event.time, completions(2).at(0));
    }
  }
  // 1.5 s from the begin to the receive may become 1.515 s; they are 1.9 s apart.
  EXPECT_EQ(clocks.stretched, 1u);
  EXPECT_NEAR(clocks.largest_step, 1.9 - 1.515, 1e-8);
}

TEST_F(BegunCallsMerged, WhoNeverBeginsIsNotWaitedFor) {
  // Process 2 has no trace, and process 1 ends without having begun the second operation: one
  // effect of which a cause is not known.
  const Events::Operation first{1, kAllreduce, "absent", 8, 8, 0, 0},
      second{2, kAllreduce, "absent", 8, 8, 0, 1};
  merge({Events(0).begin(1, 1.5, first).begin(2, 2.5, second).wait(3, 4, {1, 2}).done(),
         Events(1).begin(5, 5.5, first).wait(6, 7, {1}).done(), ""});
  expect({.checked = 2, .before = 1, .unchecked = 1});
  expect_completions(0, {5, 5});
}

TEST_F(BegunCallsMerged, WhatWasBegunUnseenCannotBeChecked) {
  // Process 1 pauses while it begins the operation: its completion cannot be checked, and 0 cannot
  // wait for it: what 0 sends later is received there. That message is 1 s early.
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  merge({Events(0)
             .begin(1, 1.5, barrier)
             .wait(2, 3, {1})
             .event(7, "ENTER", "region=MPI_Send")
             .event(7, "MPI_SEND", "dlid=1 cid=0 tag=1 sent=8")
             .event(7.5, "EXIT", "")
             .done(),
         Events(1)
             .event(1, "LOG_OFF", "")
             .event(4, "LOG_ON", "")
             .event(5, "ENTER", "region=MPI_Recv")
             .event(6, "MPI_RECV", "slid=0 cid=0 tag=1 recvd=8")
             .event(6, "EXIT", "")
             .wait(8, 9, {1})
             .done()});
  expect({.checked = 1, .before = 1, .worst = 1});
  EXPECT_EQ(clocks.unchecked, 2u);  // the begin that nobody saw, the completion of an unknown one
  expect_completions(0, {3});
}

TEST_F(BegunCallsMerged, OperationsOfUnknownCommunicatorsAreNotPaired) {
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  std::string comm = world(2);
  comm.replace(comm.find("flags=0"), 7, "flags=1");
  ClockRun::merge({comm + Events(0).begin(1, 1.5, barrier).wait(2, 3, {1}).done(),
                   comm + Events(1).begin(5, 5.5, barrier).wait(6, 7, {1}).done()});
  expect({.checked = 0, .unchecked = 2, .stays = true});
}

// ---- the operations themselves ------------------------------------------------------------------

TEST_F(BegunCallsMerged, ADamagedCommunicatorMayHaveAProcessInBothGroups) {
  // Process 1 is in both groups and never begins the barrier: it is given up once, and nobody is
  // left to wait for. What process 0 found at 3 stays.
  const Events::Operation barrier{1, kBarrier, "absent", 0, 0};
  const std::string comm =
      "MPI_GROUP gid=0 ranks=[0,1]\nMPI_GROUP gid=1 ranks=[1]\nMPI_COMM_REF cid=0 gid=0\n"
      "COMM_IDENTITY cid=0 hi=1 lo=1 flags=2\nCOMM_REMOTE cid=0 gid=1\n";
  ClockRun::merge(
      {comm + Events(0).begin(1, 1.5, barrier).wait(2, 3, {1}).done(), comm + Events(1).done()});
  expect_completions(0, {3});
}

TEST(BegunCalls, OperationsAreForgottenWhenNobodyNeedsThem) {
  merge::MergedDefinitions definitions;
  merge::MergedComm comm;
  comm.ranks = {0, 1};
  definitions.comms.push_back(comm);
  merge::CallParts parts(definitions);
  merge::BegunCalls calls(definitions, parts, 2, true);
  const auto begin = [&](std::uint32_t rank, std::uint64_t ordinal, double time) {
    const merge::CallFacts facts{rank, 0, MpiRole::kBarrier};
    calls.begin({0, 0, ordinal}, static_cast<std::uint32_t>(ordinal), facts, parts.part(facts),
                {rank, 0, time, time});
  };
  begin(0, 0, 1);
  EXPECT_FALSE(calls.ready(0, 0));
  EXPECT_EQ(calls.missing(0), 1u);
  EXPECT_TRUE(calls.woken().empty());
  begin(1, 0, 2);
  EXPECT_EQ(calls.woken(), (std::vector<std::uint32_t>{0}));
  ASSERT_TRUE(calls.ready(0, 0));
  EXPECT_EQ(calls.missing(0), kAbsent);
  EXPECT_EQ(calls.effect(0, 0).needed->time, 2);
  calls.complete(0, 0, 3);
  EXPECT_EQ(calls.open(), 1u) << "process 1 has not completed it";
  EXPECT_TRUE(calls.limits().empty());
  ASSERT_TRUE(calls.ready(1, 0));
  calls.complete(1, 0, 4);
  EXPECT_EQ(calls.open(), 0u);
  // Both must have begun before the first finds it complete, at 3.
  ASSERT_EQ(calls.limits().size(), 2u);
  EXPECT_EQ(calls.limits()[0].second, 3);
  EXPECT_EQ(calls.limits()[1].second, 3);
  // The second operation: process 1 begins the third at once.
  begin(0, 1, 5);
  EXPECT_FALSE(calls.ready(0, 1));
  begin(1, 2, 6);
  EXPECT_TRUE(calls.ready(0, 1));
  EXPECT_EQ(calls.effect(0, 1).needed, nullptr);
  EXPECT_EQ(calls.lost(), 1u);
  calls.complete(0, 1, 7);
  EXPECT_EQ(calls.open(), 1u) << "the third waits for process 0";
  calls.end(0);
  calls.end(1);
  EXPECT_EQ(calls.open(), 0u);
}

TEST(BegunCalls, ThereIsAMostOfWhatIsKept) {
  // Who runs far ahead of the others with operations that need nobody.
  merge::MergedDefinitions definitions;
  merge::MergedComm comm;
  comm.ranks = {0, 1};
  definitions.comms.push_back(comm);
  merge::CallParts parts(definitions);
  merge::BegunCalls calls(definitions, parts, 2, false);
  const merge::CallFacts facts{0, 0, MpiRole::kOneToAll, false, 0, 8, 0};
  constexpr std::uint32_t kMany = merge::BegunCalls::kMostOpen + 10;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    calls.begin({0, 0, i}, i, facts, parts.part(facts), {0, 0, 1.0 * i, 1.0 * i});
    ASSERT_TRUE(calls.ready(0, i)) << "the root needs nobody";
    ASSERT_EQ(calls.effect(0, i).unchecked, i >= merge::BegunCalls::kMostOpen);
    calls.complete(0, i, i);
  }
  EXPECT_EQ(calls.open(), std::size_t{merge::BegunCalls::kMostOpen});
  calls.finish();
  EXPECT_EQ(calls.open(), 0u);
}

}  // namespace
}  // namespace kojak::test
