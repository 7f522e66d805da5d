// Instances of collective operations on communicators and of window creation, fence and free.
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {
namespace {

std::string barrier(int at, double begin, double end, int com = 0,
                    const char* region = "MPI_Barrier") {
  const std::string lid = " lid=" + std::to_string(at);
  return "ENTER" + lid + " time=" + std::to_string(begin) + " region=" + region + "\nMPI_COLLEXIT" +
         lid + " time=" + std::to_string(end) + " cid=" + std::to_string(com) + "\n";
}
std::string window_call(int at, double begin, double end, const char* region, int window = 0,
                        int assertion = 0) {
  const std::string lid = " lid=" + std::to_string(at);
  std::string text = "ENTER" + lid + " time=" + std::to_string(begin) + " region=" + region + "\n";
  if (assertion != 0) {
    text += "MPI_ASSERT" + lid + " time=" + std::to_string(end) + " wid=" + std::to_string(window) +
            " assertion=" + std::to_string(assertion) + "\n";
  }
  return text + "MPI_WINCOLLEXIT" + lid + " time=" + std::to_string(end) +
         " wid=" + std::to_string(window) + "\n";
}
std::string ordered(std::vector<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}
// Splits the two lines of a call, so that calls can overlap.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n') + 1);
}
std::string rest(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(EarlCollectives, AllMembersOfOneOperation) {
  const std::string a = barrier(0, 1, 4), b = barrier(1, 2, 4), c = barrier(2, 3, 5);
  const Pass run(first_line(a) + first_line(b) + first_line(c) + rest(a) + rest(b) + rest(c));
  run.expect_only({});
  ASSERT_EQ(run.out.collectives.size(), 1u);
  const CollectiveInstance& instance = run.out.collectives[0];
  EXPECT_TRUE(instance.complete);
  EXPECT_EQ(instance.role(), MpiRole::kBarrier);
  EXPECT_EQ(instance.ordinal, 0u);
  EXPECT_TRUE(is_absent(instance.root));
  ASSERT_EQ(instance.members.size(), 3u);
  EXPECT_EQ(instance.members[2].rank, 2u);
  EXPECT_EQ(instance.members[2].call.enter.value, 3);
}

TEST(EarlCollectives, TheNthOfOneMemberIsTheNthOfAll) {
  // The root of a broadcast runs ahead by two operations.
  const auto bcast = [](int at, double begin, double end, int sent) {
    const std::string lid = " lid=" + std::to_string(at);
    return "ENTER" + lid + " time=" + std::to_string(begin) + " region=MPI_Bcast\nMPI_COLLEXIT" +
           lid + " time=" + std::to_string(end) + " rlid=0 sent=" + std::to_string(sent) +
           " recvd=8\n";
  };
  const Pass run(ordered({bcast(0, 1, 1.1, 10), bcast(0, 2, 2.1, 20), bcast(0, 3, 3.1, 30),
                          bcast(1, 4, 4.1, 0), bcast(1, 5, 5.1, 0), bcast(1, 6, 6.1, 0)}));
  run.expect_only({});
  ASSERT_EQ(run.out.collectives.size(), 3u);
  for (unsigned n = 0; n < 3; ++n) {
    const CollectiveInstance& instance = run.out.collectives[n];
    EXPECT_EQ(instance.ordinal, n);
    EXPECT_EQ(raw(instance.root), 0u);
    EXPECT_EQ(instance.members[0].call.enter.value, 1 + n);
    EXPECT_EQ(instance.members[1].call.enter.value, 4 + n);
    EXPECT_EQ(raw(instance.members[0].sent), 10 * (n + 1));
  }
}

TEST(EarlCollectives, RanksFollowTheGroupsOrder) {
  const Pass run(
      "MPI_GROUP gid=0 mode=0 ranks=[2,0]\nMPI_COMM_REF cid=0 gid=0\n"
      "MPI_GROUP gid=1 mode=1 count=3\nMPI_COMM_REF cid=1 gid=1\n" +
      barrier(0, 1, 2, 0, "MPI_Scan") + barrier(2, 3, 4, 0, "MPI_Scan") +
      barrier(1, 5, 6, 0, "MPI_Scan"));
  run.expect_only({Finding::kNotAMember});
  ASSERT_EQ(run.out.collectives.size(), 1u);
  EXPECT_EQ(run.out.collectives[0].members[0].rank, 1u);
  EXPECT_EQ(run.out.collectives[0].members[1].rank, 0u);
  EXPECT_EQ(run.out.collectives[0].role(), MpiRole::kPrefix);
}

TEST(EarlCollectives, OneProcessCompletesAtOnce) {
  const Pass run("MPI_GROUP gid=0 mode=0 ranks=[1]\nMPI_COMM_REF cid=0 gid=0\n" + barrier(1, 1, 2) +
                 barrier(1, 3, 4) + barrier(0, 5, 6, 1));
  EXPECT_EQ(run.out.collectives.size(), 2u);
  EXPECT_EQ(run.count(Finding::kUnknownComm), 1u);
}

TEST(EarlCollectives, AnIntercommunicatorsGroupsTakePartTogether) {
  const Pass run(
      "MPI_GROUP gid=0 mode=0 ranks=[0]\nMPI_GROUP gid=1 mode=0 ranks=[1,2]\n"
      "MPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=2 flags=2\n"
      "COMM_REMOTE cid=0 gid=1\n" +
      barrier(2, 1, 2) + barrier(0, 1, 3) + barrier(1, 1, 4));
  EXPECT_EQ(run.count(Finding::kUnknownComm), 0u);
  ASSERT_EQ(run.out.collectives.size(), 1u);
  EXPECT_TRUE(run.out.collectives[0].intercommunicator);
  EXPECT_TRUE(run.out.collectives[0].complete);
  EXPECT_EQ(run.out.collectives[0].size, 3u);
  EXPECT_EQ(run.out.collectives[0].members[0].rank, 2u);
}

TEST(EarlCollectives, UnknownIdentityIsNeverPaired) {
  const Pass run(
      "MPI_GROUP gid=0 mode=1 count=2\nMPI_COMM_REF cid=0 gid=0\n"
      "COMM_IDENTITY cid=0 hi=0 lo=0 flags=1\n" +
      barrier(0, 1, 2) + barrier(1, 1, 2));
  EXPECT_TRUE(run.out.collectives.empty());
  EXPECT_EQ(run.count(Finding::kUnknownIdentity), 2u);
}

TEST(EarlCollectives, DifferentOperationsAreNoInstanceToEvaluate) {
  const Pass run(barrier(0, 1, 2) + barrier(1, 3, 4, 0, "MPI_Allreduce"));
  run.expect_only({Finding::kMixedCollective});
  ASSERT_EQ(run.out.collectives.size(), 1u);
  EXPECT_TRUE(run.out.collectives[0].mixed);
}

TEST(EarlCollectives, WhatStaysIncompleteComesAtTheEnd) {
  const Pass run(barrier(0, 1, 2) + barrier(1, 3, 4) + barrier(0, 5, 6));
  run.expect_only({Finding::kIncompleteCollective});
  ASSERT_EQ(run.out.collectives.size(), 2u);
  EXPECT_TRUE(run.out.collectives[0].complete);
  EXPECT_FALSE(run.out.collectives[1].complete);
  EXPECT_EQ(run.out.collectives[1].members.size(), 1u);
}

TEST(EarlCollectives, OrdinalsAreTakenUpAfterAGap) {
  // Process 0 was in two barriers while it was not recorded.
  const Pass run("ENTER lid=0 time=0 region=main\n" + barrier(1, 1, 2) + barrier(1, 3, 4) +
                 "LOG_OFF lid=0 time=4\nLOG_ON lid=0 time=5\n"
                 "COLL_STATE lid=0 time=5 cid=0 count=2\n" +
                 barrier(0, 6, 7) + barrier(1, 8, 9) + "EXIT lid=0 time=10\n");
  EXPECT_EQ(run.count(Finding::kGap), 1u);
  ASSERT_GE(run.out.collectives.size(), 1u);
  EXPECT_TRUE(run.out.collectives[0].complete);
  EXPECT_EQ(run.out.collectives[0].ordinal, 2u);
  EXPECT_EQ(run.out.collectives[0].members[1].call.enter.value, 8);
  EXPECT_EQ(run.count(Finding::kIncompleteCollective), 2u);
}

TEST(EarlWindows, CreateFenceAndFreeAreCountedSeparately) {
  const Pass run(
      ordered({window_call(0, 1, 2, "MPI_Win_create"), window_call(1, 1, 2.1, "MPI_Win_create"),
               window_call(0, 3, 4, "MPI_Win_fence", 0, 8), window_call(0, 5, 6, "MPI_Win_fence"),
               window_call(1, 7, 8, "MPI_Win_fence"), window_call(1, 9, 10, "MPI_Win_fence"),
               window_call(0, 11, 12, "MPI_Win_free"), window_call(1, 11, 13, "MPI_Win_free")}));
  EXPECT_EQ(run.count(Finding::kIncompleteCollective), 0u);
  ASSERT_EQ(run.out.windows.size(), 4u);
  EXPECT_EQ(run.out.windows[0].role, MpiRole::kWinCreate);
  EXPECT_EQ(run.out.windows[1].role, MpiRole::kWinFence);
  EXPECT_EQ(run.out.windows[1].ordinal, 0u);
  EXPECT_TRUE(run.out.windows[1].members[0].call.noprecede());
  EXPECT_FALSE(run.out.windows[1].members[1].call.noprecede());
  EXPECT_EQ(run.out.windows[1].members[0].call.enter.value, 3);
  EXPECT_EQ(run.out.windows[1].members[1].call.enter.value, 7);
  EXPECT_EQ(run.out.windows[2].ordinal, 1u);
  EXPECT_EQ(run.out.windows[3].role, MpiRole::kWinFree);
}

TEST(EarlWindows, AFenceThatNotAllLeaveIsToldAtTheEnd) {
  const Pass run(
      "ENTER lid=0 time=0 region=MPI_Win_fence\nENTER lid=1 time=0 region=main\n"
      "MPI_WINCOLLEXIT lid=0 time=1 wid=0\nEXIT lid=1 time=2\n");
  run.expect_only({Finding::kIncompleteCollective});
  EXPECT_EQ(run.count(Finding::kIncompleteCollective), 1u);
  ASSERT_EQ(run.out.windows.size(), 1u);
  EXPECT_FALSE(run.out.windows[0].complete);
}

TEST(EarlWindows, NothingIsKeptAfterTheEnd) {
  const Pass run(
      "ENTER lid=0 time=0 region=main\nEXIT lid=0 time=1\n"
      "ENTER lid=1 time=1 region=main\nMPI_COLLEXIT lid=1 time=2 cid=0\n");
  Findings findings;
  detail::GroupTable groups(*run.trace);
  CollectiveInstances instances(groups, true, findings);
  Call call;
  EXPECT_EQ(instances.leave({&call, CommId{0}, absent<PeerId>(), {}, {}}), nullptr);
  EXPECT_EQ(instances.open(), 1u);
  int given = 0;
  for (int i = 0; i < 2; ++i) instances.finish(7, [&](const CollectiveInstance&) { ++given; });
  EXPECT_EQ(given, 1);
  EXPECT_EQ(instances.open(), 0u);
  EXPECT_EQ(findings[Finding::kIncompleteCollective].count, 1u);
}

TEST(EarlWindows, TwoWindowsAreIndependent) {
  const Pass run(ordered(
      {window_call(0, 1, 2, "MPI_Win_fence", 0), window_call(0, 3, 4, "MPI_Win_fence", 1),
       window_call(1, 5, 6, "MPI_Win_fence", 1), window_call(1, 7, 8, "MPI_Win_fence", 0)}));
  run.expect_only({});
  ASSERT_EQ(run.out.windows.size(), 2u);
  EXPECT_EQ(raw(run.out.windows[0].window), 1u);
  EXPECT_EQ(run.out.windows[0].members[0].call.enter.value, 3);
  EXPECT_EQ(raw(run.out.windows[1].window), 0u);
}

TEST(EarlWindows, AFenceClosesTheEpochOfItsProcess) {
  const auto put = [](int from, int to, double time, int rmaid) {
    const std::string lid = " lid=" + std::to_string(from), t = " time=" + std::to_string(time);
    return "ENTER" + lid + t + " region=MPI_Put\nMPI_PUT_1TS" + lid + t +
           " dlid=" + std::to_string(to) + " rmaid=" + std::to_string(rmaid) + " sent=8\nEXIT" +
           lid + " time=" + std::to_string(time + 0.5) + "\n";
  };
  const Pass run(ordered({window_call(0, 1, 2, "MPI_Win_fence"), put(0, 1, 3, 0), put(0, 1, 4, 1),
                          put(0, 0, 5, 2), window_call(0, 6, 7, "MPI_Win_fence"),
                          window_call(0, 8, 9, "MPI_Win_fence"),
                          "ENTER lid=1 time=9 region=f\nEXIT lid=1 time=9\n"}));
  ASSERT_EQ(run.out.fences.size(), 3u);
  EXPECT_EQ(run.out.fences[0].ordinal, 0u);
  EXPECT_TRUE(run.out.fences[0].targets.empty());
  EXPECT_EQ(run.out.fences[1].ordinal, 1u);
  EXPECT_EQ(run.out.fences[1].size, 2u);
  ASSERT_EQ(run.out.fences[1].targets.size(), 2u);
  EXPECT_EQ(run.out.fences[1].targets[0].target, rank(1));
  EXPECT_EQ(run.out.fences[1].targets[0].transfers.ops, 2u);
  EXPECT_EQ(run.out.fences[1].targets[0].transfers.last_exit.value, 4.5);
  EXPECT_EQ(run.out.fences[1].targets[1].target, rank(0));
  EXPECT_TRUE(run.out.fences[2].targets.empty());
  EXPECT_EQ(run.out.transfers[0].epoch, EpochKind::kFence);
  EXPECT_EQ(run.out.transfers[0].bytes, 8u);
}

TEST(EarlWindows, FenceOrdinalsAreTakenUpAfterAGap) {
  const Pass run("ENTER lid=0 time=0 region=main\n" + window_call(1, 1, 2, "MPI_Win_fence") +
                 window_call(1, 3, 4, "MPI_Win_fence") +
                 "LOG_OFF lid=0 time=4\nLOG_ON lid=0 time=5\n"
                 "WIN_STATE lid=0 time=5 wid=0 fences=1 open=1\n" +
                 window_call(0, 6, 7, "MPI_Win_fence") + "EXIT lid=0 time=8\n");
  ASSERT_GE(run.out.windows.size(), 1u);
  EXPECT_TRUE(run.out.windows[0].complete);
  EXPECT_EQ(run.out.windows[0].ordinal, 1u);
  EXPECT_EQ(run.out.windows[0].members[0].call.enter.value, 3);
  EXPECT_EQ(run.count(Finding::kGap), 1u);
}

TEST(EarlWindows, ManyTargetsOfOneEpochAreKeptApart) {
  std::string text;
  double time = 0;
  for (int round = 0; round < 3; ++round) {
    for (int target = 0; target < 40; ++target) {
      const std::string t = " time=" + std::to_string(time += 1);
      text += "ENTER lid=0" + t + " region=MPI_Put\nMPI_PUT_1TS lid=0" + t +
              " dlid=" + std::to_string(target) + " rmaid=" + std::to_string(round * 40 + target) +
              "\nEXIT lid=0" + t + "\n";
    }
  }
  text += window_call(0, time + 1, time + 2, "MPI_Win_fence");
  const Pass run(text);
  ASSERT_EQ(run.out.fences.size(), 1u);
  ASSERT_EQ(run.out.fences[0].targets.size(), 40u);
  for (const FenceTarget& t : run.out.fences[0].targets) EXPECT_EQ(t.transfers.ops, 3u);
}

}  // namespace
}  // namespace kojak::earl
