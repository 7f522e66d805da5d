// The formulas of the patterns, each with a positive, a boundary and a negative case. All times are
// made up; what must come out is worked out beside each check.

#include <gtest/gtest.h>

#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

Call call(double enter, double exit, std::vector<Interval> holes = {}) {
  Call c;
  c.enter = {enter};
  c.exit = {exit};
  c.holes = earl::Holes(holes);
  return c;
}

// ---- the two forms of waiting time

TEST(Overlap, IsTheCommonLength) {
  EXPECT_DOUBLE_EQ(overlap(call(1, 4), {2}, {3}).value, 1);  // [2,3] lies inside
  EXPECT_DOUBLE_EQ(overlap(call(1, 4), {0}, {2}).value, 1);  // [1,2]
  EXPECT_DOUBLE_EQ(overlap(call(1, 4), {3}, {9}).value, 1);  // [3,4]
  EXPECT_DOUBLE_EQ(overlap(call(1, 4), {0}, {9}).value, 3);  // all of it
}
TEST(Overlap, IsNothingAtTheBorders) {
  EXPECT_EQ(overlap(call(1, 4), {0}, {1}).value, 0);
  EXPECT_EQ(overlap(call(1, 4), {4}, {5}).value, 0);
  EXPECT_EQ(overlap(call(1, 4), {2}, {2}).value, 0);
}
TEST(Overlap, IsNeverNegative) {
  EXPECT_EQ(overlap(call(1, 4), {3}, {2}).value, 0);
  EXPECT_EQ(overlap(call(1, 4), {5}, {6}).value, 0);
}
TEST(Overlap, LeavesHolesOut) {
  // Exclusive time of [0,10] without [2,3] and [5,7] is 7.
  const Call c = call(0, 10, {{{2}, {3}}, {{5}, {7}}});
  EXPECT_DOUBLE_EQ(overlap(c, {0}, {10}).value, 7);
  EXPECT_DOUBLE_EQ(overlap(c, {2.5}, {6}).value, 2);  // [3,5]
  EXPECT_EQ(overlap(c, {5}, {7}).value, 0);
}

TEST(Blocked, EndsAtTheLatestCauseBeforeTheCallEnded) {
  const std::vector<Cause> causes{{{2}, {0}}, {{3}, {0}}, {{9}, {0}}};
  EXPECT_DOUBLE_EQ(blocked(call(1, 4), causes).value, 2);  // [1,3]; 9 is after the end
}
TEST(Blocked, ACauseAtTheVeryEndBlocked) {
  EXPECT_DOUBLE_EQ(blocked(call(1, 4), Cause{{4}, {0}}).value, 3);
}
TEST(Blocked, NothingThatCameLaterOrBefore) {
  EXPECT_EQ(blocked(call(1, 4), Cause{{4.1}, {0}}).value, 0);
  EXPECT_EQ(blocked(call(1, 4), Cause{{0.5}, {0}}).value, 0);
  EXPECT_EQ(blocked(call(1, 4), std::vector<Cause>{}).value, 0);
}
TEST(Blocked, ClockErrorExtendsTheEndButNotTheSeverity) {
  // 4.1 may have been 4 or earlier on the caller's clock: the whole call, never more.
  EXPECT_DOUBLE_EQ(blocked(call(1, 4), Cause{{4.1}, {0.2}}).value, 3);
  EXPECT_EQ(blocked(call(1, 4), Cause{{4.3}, {0.2}}).value, 0);
  // Each cause has its own bound: 4.1 counts only with the larger one.
  EXPECT_DOUBLE_EQ(blocked(call(1, 4), std::vector<Cause>{{{4.1}, {0}}, {{2}, {1}}}).value, 1);
}

// ---- collectives: L = 5 is the latest enter in all of these

template <class P>
class WaitForLast : public ::testing::Test {};
using WaitsForLast =
    ::testing::Types<BarrierWait, NxnWait, WindowCreateWait, WindowFreeWait, FenceWait, EarlyScan>;
TYPED_TEST_SUITE(WaitForLast, WaitsForLast);

TYPED_TEST(WaitForLast, CountsFromEnterToTheLatestEnter) {
  EXPECT_DOUBLE_EQ(TypeParam::severity(call(2, 6), {5}).value, 3);
}
TYPED_TEST(WaitForLast, TheLastToEnterDoesNotWait) {
  EXPECT_EQ(TypeParam::severity(call(5, 6), {5}).value, 0);
}
TYPED_TEST(WaitForLast, NeverMoreThanTheCall) {
  EXPECT_DOUBLE_EQ(TypeParam::severity(call(2, 4), {5}).value, 2);  // clock error
  EXPECT_EQ(TypeParam::severity(call(5.5, 6), {5}).value, 0);
}

TEST(FenceCompletion, FromTheFirstExit) {
  EXPECT_DOUBLE_EQ(FenceCompletion::severity(call(2, 7), {5}, {6}).value, 1);
  EXPECT_EQ(FenceCompletion::severity(call(2, 6), {5}, {6}).value, 0);         // itself the first
  EXPECT_DOUBLE_EQ(FenceCompletion::severity(call(2, 7), {5}, {4}).value, 2);  // not before L
}

TEST(BarrierCompletion, FromTheFirstExit) {
  EXPECT_DOUBLE_EQ(BarrierCompletion::severity(call(2, 7), {5}, {6}).value, 1);
  EXPECT_EQ(BarrierCompletion::severity(call(2, 6), {5}, {6}).value, 0);  // itself the first
  // First exit before the latest enter (clock error): the waiting [.., 5] is not counted again.
  EXPECT_DOUBLE_EQ(BarrierCompletion::severity(call(2, 7), {5}, {4}).value, 2);
}
TEST(NxnCompletion, FromTheFirstExit) {
  EXPECT_DOUBLE_EQ(NxnCompletion::severity(call(2, 7), {5}, {6.5}).value, 0.5);
  EXPECT_EQ(NxnCompletion::severity(call(2, 6), {5}, {6}).value, 0);
  EXPECT_DOUBLE_EQ(NxnCompletion::severity(call(2, 7), {5}, {4}).value, 2);
}
TEST(LateBroadcast, UntilTheRootEntered) {
  EXPECT_DOUBLE_EQ(LateBroadcast::severity(call(2, 6), {5}).value, 3);
  EXPECT_EQ(LateBroadcast::severity(call(2, 6), {2}).value, 0);
  EXPECT_EQ(LateBroadcast::severity(call(2, 6), {1}).value, 0);
}
TEST(EarlyReduce, UntilTheFirstOfTheOthersEntered) {
  EXPECT_DOUBLE_EQ(EarlyReduce::severity(call(2, 6), {3}).value, 1);
  EXPECT_EQ(EarlyReduce::severity(call(2, 6), {2}).value, 0);
  EXPECT_EQ(EarlyReduce::severity(call(2, 6), {1}).value, 0);
}

// ---- fence

TEST(FenceWait, WithNoprecedeOnlyWhatCameBeforeItEnded) {
  // Others enter at 2, 3 and 9; the call [1,4] may have waited for the one at 3.
  const std::vector<Cause> enters{{{1}, {0}}, {{2}, {0}}, {{3}, {0}}, {{9}, {0}}};
  EXPECT_DOUBLE_EQ(FenceWait::severity_noprecede(call(1, 4), enters).value, 2);
  EXPECT_EQ(FenceWait::severity_noprecede(call(1, 1.5), enters).value, 0);
}
TEST(FenceWait, SynchronisesIfNobodyLeftBeforeTheLastCame) {
  EXPECT_TRUE(FenceEdges::synchronised({5.1}, {5}, {0}));
  EXPECT_TRUE(FenceEdges::synchronised({5}, {5}, {0}));
  EXPECT_FALSE(FenceEdges::synchronised({4.9}, {5}, {0}));
  EXPECT_TRUE(FenceEdges::synchronised({4.9}, {5}, {0.2}));  // within the clocks' error
}

// ---- general active target

TEST(LatePost, UntilTheLastPostBeforeItsEnd) {
  const std::vector<Cause> posts{{{2}, {0}}, {{4}, {0}}};
  EXPECT_DOUBLE_EQ(LatePost::severity(call(1, 5), posts).value, 3);
  EXPECT_DOUBLE_EQ(LatePost::severity(call(1, 3), posts).value, 1);  // did not wait for the second
  EXPECT_EQ(LatePost::severity(call(4, 5), posts).value, 0);         // both had posted
}
TEST(BeforeFirstPost, UntilTheFirstPostAlone) {
  EXPECT_DOUBLE_EQ(BeforeFirstPost::severity(call(1, 5), {{2}, {0}}).value, 1);
  EXPECT_EQ(BeforeFirstPost::severity(call(2, 5), {{2}, {0}}).value, 0);
  EXPECT_EQ(BeforeFirstPost::severity(call(1, 1.5), {{2}, {0}}).value, 0);
}
TEST(EarlyTransfer, UntilTheLastPostBeforeItsEnd) {
  const std::vector<Cause> posts{{{2}, {0}}, {{4}, {0}}};
  EXPECT_DOUBLE_EQ(EarlyTransfer::severity(call(3, 5), posts).value, 1);
  EXPECT_EQ(EarlyTransfer::severity(call(1, 1.5), posts).value, 0);  // returned before any post
  EXPECT_EQ(EarlyTransfer::severity(call(4.5, 5), posts).value, 0);
}
TEST(EarlyWait, UntilTheLastComplete) {
  EXPECT_DOUBLE_EQ(EarlyWait::severity(call(1, 5), {4}).value, 3);
  EXPECT_EQ(EarlyWait::severity(call(4, 5), {4}).value, 0);
  EXPECT_EQ(EarlyWait::severity(call(4.5, 5), {4}).value, 0);
}
// The wait [1, 9], the last complete [4, 8].
TEST(IndirectWait, WhileTheLastCompleteWaited) {
  EXPECT_DOUBLE_EQ(IndirectWait::severity(call(1, 9), call(4, 8), {7}).value, 3);    // [4, 7]
  EXPECT_DOUBLE_EQ(IndirectWait::severity(call(5, 9), call(4, 8), {7}).value, 2);    // from w.enter
  EXPECT_DOUBLE_EQ(IndirectWait::severity(call(1, 6), call(4, 8), {7}).value, 2);    // to w.exit
  EXPECT_DOUBLE_EQ(IndirectWait::severity(call(1, 9), call(4, 8), {8.5}).value, 4);  // to its exit
  EXPECT_EQ(IndirectWait::severity(call(1, 9), call(4, 8), {4}).value, 0);
  EXPECT_EQ(IndirectWait::severity(call(1, 9), call(4, 8), {3}).value, 0);
  EXPECT_EQ(IndirectWait::severity(call(1, 4), call(4, 8), {7}).value, 0);
}
TEST(LateComplete, FromTheLastTransferToTheLastComplete) {
  EXPECT_DOUBLE_EQ(LateComplete::severity(call(1, 5), {2}, {4}).value, 2);
  EXPECT_DOUBLE_EQ(LateComplete::severity(call(1, 5), {0.5}, {4}).value, 3);  // from w.enter
  EXPECT_EQ(LateComplete::severity(call(1, 5), {4}, {4}).value, 0);
  EXPECT_EQ(LateComplete::severity(call(4, 5), {2}, {4}).value, 0);
}
TEST(CorrespondingComplete, UntilTheCompleteOfThatOrigin) {
  // Last transfer at 2 by an origin that completed at 3, the last complete was at 4.
  EXPECT_DOUBLE_EQ(CorrespondingComplete::severity(call(1, 5), {2}, {3}).value, 1);
  EXPECT_EQ(CorrespondingComplete::severity(call(1, 5), {2}, {2}).value, 0);
  EXPECT_EQ(CorrespondingComplete::severity(call(3.5, 5), {2}, {3}).value, 0);
}

// ---- messages

TEST(LateSender, UntilTheSendBegan) {
  EXPECT_DOUBLE_EQ(LateSender::severity(call(1, 5), {4}).value, 3);
  EXPECT_EQ(LateSender::severity(call(1, 5), {1}).value, 0);
  EXPECT_EQ(LateSender::severity(call(1, 5), {0.5}).value, 0);
}
TEST(LateSender, TheMessageThatDecides) {
  earl::Message early, late;
  early.send_call.enter = {2};
  late.send_call.enter = {3};
  const std::vector<const earl::Message*> both{&early, &late};
  const auto of = [](const char* function, bool polled = false) {
    Call c = call(1, 5);
    c.function = find_mpi_function(function);
    c.polled = polled;
    return c;
  };
  EXPECT_EQ(LateSender::deciding(of("MPI_Waitall"), both), &late);
  EXPECT_EQ(LateSender::deciding(of("MPI_Waitsome"), both), &early);
  EXPECT_EQ(LateSender::deciding(of("MPI_Waitany"), both), &early);
  EXPECT_EQ(LateSender::deciding(of("MPI_Recv"), {&both[1], 1}), &late);
  for (const char* name : {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome",
                           "MPI_Request_get_status", "MPI_Probe"}) {
    EXPECT_EQ(LateSender::deciding(of(name), both), nullptr);
  }
  EXPECT_EQ(LateSender::deciding(of("MPI_Waitall"), {}), nullptr);
  // As the end of a series of polls that waited.
  EXPECT_EQ(LateSender::deciding(of("MPI_Testall", true), both), &late);
  EXPECT_EQ(LateSender::deciding(of("MPI_Testsome", true), both), &early);
  EXPECT_EQ(LateSender::deciding(of("MPI_Testany", true), both), &early);
}
TEST(Calls, APollWaitsFromTheFirstOneForWhatItFound) {
  Call c = call(1, 5);
  c.polled_from = {2};
  EXPECT_EQ(c.waits_from().value, 1) << "it has not polled";
  c.polled = true;
  EXPECT_EQ(c.waits_from().value, 2);
  c.polled_from = {0.5};
  EXPECT_EQ(c.waits_from().value, 1) << "not before its enter";
}
TEST(LateReceiver, UntilTheReceiveWasPosted) {
  EXPECT_DOUBLE_EQ(LateReceiver::severity(call(1, 5), std::vector<Cause>{{{4}, {0}}}).value, 3);
  EXPECT_EQ(LateReceiver::severity(call(1, 3), std::vector<Cause>{{{4}, {0}}}).value, 0);
  EXPECT_EQ(LateReceiver::severity(call(1, 5), std::vector<Cause>{{{1}, {0}}}).value, 0);
}
TEST(LateReceiver, OnlySendsThatMayBlock) {
  for (const MpiRole role : {MpiRole::kSend, MpiRole::kSsend, MpiRole::kIsend, MpiRole::kIssend,
                             MpiRole::kSendrecv, MpiRole::kStart}) {
    EXPECT_TRUE(LateReceiver::may_block(role));
  }
  for (const MpiRole role : {MpiRole::kBsend, MpiRole::kIbsend, MpiRole::kRecv}) {
    EXPECT_FALSE(LateReceiver::may_block(role));
  }
}
TEST(WrongOrder, AllOrNothing) {
  EXPECT_DOUBLE_EQ(LateSenderWrongOrder::severity({3}, true).value, 3);
  EXPECT_EQ(LateSenderWrongOrder::severity({3}, false).value, 0);
  EXPECT_DOUBLE_EQ(LateReceiverWrongOrder::severity({2}, true).value, 2);
  EXPECT_EQ(LateReceiverWrongOrder::severity({2}, false).value, 0);
}

// ---- pairs

TEST(Pairs, OfAnAccessEpochAreItsTargetsWithoutOneself) {
  earl::AccessEpoch epoch;
  epoch.origin = ProcessId{1};
  epoch.targets.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) epoch.targets[i].target = ProcessId{i};
  epoch.targets[0].transfers.ops = 2;
  epoch.targets[1].transfers.ops = 1;              // to itself
  EXPECT_EQ(SynchronisedPairs::count(epoch), 2u);  // 0 and 2
  EXPECT_EQ(UnneededPairs::count(epoch), 1u);      // 2
}
TEST(Pairs, OfAFenceAreAllOtherMembersFromTheSecondFenceOn) {
  earl::FenceEpoch epoch{};
  epoch.size = 4;
  epoch.ordinal = 0;
  EXPECT_EQ(SynchronisedPairs::count(epoch), 0u);
  EXPECT_EQ(UnneededPairs::count(epoch, ProcessId{0}), 0u);
  epoch.ordinal = 1;
  std::vector<earl::FenceTarget> targets(2);
  targets[0].target = ProcessId{0};  // itself: no pair
  targets[0].transfers.ops = 5;
  targets[1].target = ProcessId{3};
  targets[1].transfers.ops = 1;
  epoch.targets = targets;
  EXPECT_EQ(SynchronisedPairs::count(epoch), 3u);            // 1, 2, 3
  EXPECT_EQ(UnneededPairs::count(epoch, ProcessId{0}), 2u);  // 1, 2
  epoch.gap = true;                                          // 1 and 2 may have been used
  EXPECT_EQ(UnneededPairs::count(epoch, ProcessId{0}), 0u);
}

}  // namespace
}  // namespace kojak::expert
