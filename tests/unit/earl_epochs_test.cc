// Access and exposure epochs, their pairs and transactions.
#include "tests/unit/earl_gats_text.h"
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {
namespace {

const AccessCopy* access_of(const Pass& run, int origin, double start_enter) {
  for (const AccessCopy& a : run.out.accesses) {
    if (a.origin == rank(static_cast<unsigned>(origin)) && a.start.enter.value == start_enter) {
      return &a;
    }
  }
  return nullptr;
}
const ExposureCopy* exposure_of(const Pass& run, int target, double post_enter) {
  for (const ExposureCopy& e : run.out.exposures) {
    if (e.target == rank(static_cast<unsigned>(target)) && e.post.enter.value == post_enter) {
      return &e;
    }
  }
  return nullptr;
}

TEST(EarlEpochs, TwoOriginsOneTarget) {
  const Pass run(Script()
                     .post(0, 1, 2, "[1,2]")
                     .start(1, 1, 3, "[0]")
                     .start(2, 1, 3, "[0]")
                     .put(1, 4, 5, 0, 0)
                     .put(1, 6, 7, 0, 1)
                     .put(2, 4, 8, 0, 0)
                     .complete(1, 9, 10, "[0]")
                     .complete(2, 11, 12, "[0]")
                     .wait(0, 5, 13, "[1,2]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 1u);
  const ExposureCopy& e = run.out.exposures[0];
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.post.enter.value, 1);
  EXPECT_EQ(e.finish.enter.value, 5);
  ASSERT_EQ(e.origins.size(), 2u);
  EXPECT_EQ(e.origins[0].origin, rank(1));
  EXPECT_EQ(e.accesses[0]->finish.enter.value, 9);
  EXPECT_EQ(e.accesses[1]->finish.enter.value, 11);
  EXPECT_EQ(e.transfers[0].ops, 2u);
  EXPECT_EQ(e.transfers[0].last_exit.value, 7);
  EXPECT_EQ(e.transfers[1].last_exit.value, 8);
  ASSERT_EQ(run.out.accesses.size(), 2u);
  const AccessCopy* a = access_of(run, 2, 1);
  ASSERT_NE(a, nullptr);
  EXPECT_TRUE(a->complete);
  EXPECT_EQ(a->exposures[0]->post.enter.value, 1);
  EXPECT_EQ(run.out.closed_accesses.size(), 2u);
  EXPECT_EQ(run.out.transfers[0].epoch, EpochKind::kAccess);
  // All calls began after the post had entered: nothing can have blocked them.
  EXPECT_TRUE(run.out.epoch_calls.empty());
}

TEST(EarlEpochs, AnOriginTwoEpochsAhead) {
  Script script;
  for (int n = 0; n < 3; ++n) {
    script.start(1, 1 + n, 1.1 + n, "[0]").put(1, 1.2 + n, 1.3 + n, 0, n);
    script.complete(1, 1.4 + n, 1.5 + n, "[0]");
    script.post(0, 10 + n, 10.1 + n, "[1]").wait(0, 10.2 + n, 10.3 + n, "[1]");
  }
  const Pass run(script.text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 3u);
  ASSERT_EQ(run.out.accesses.size(), 3u);
  for (int n = 0; n < 3; ++n) {
    const ExposureCopy* e = exposure_of(run, 0, 10 + n);
    ASSERT_NE(e, nullptr);
    EXPECT_EQ(e->accesses[0]->start.enter.value, 1 + n);
    EXPECT_EQ(e->origins[0].ordinal, static_cast<unsigned>(n));
    EXPECT_EQ(access_of(run, 1, 1 + n)->exposures[0]->post.enter.value, 10 + n);
  }
}

TEST(EarlEpochs, OneEventCompletesSeveralTransactions) {
  // Both targets have waited (as a clock error may have it); the origin's complete closes both
  // exposure transactions and its own access transaction.
  const Pass run(Script()
                     .post(0, 1, 2, "[2]")
                     .post(1, 1, 2, "[2]")
                     .start(2, 1, 3, "[0,1]")
                     .wait(0, 4, 5, "[2]")
                     .wait(1, 4, 6, "[2]")
                     .complete(2, 7, 8, "[0,1]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 2u);
  ASSERT_EQ(run.out.accesses.size(), 1u);
  const std::vector<std::string> tail(run.out.order.end() - 5, run.out.order.end());
  EXPECT_EQ(tail,
            (std::vector<std::string>{"call", "access epoch", "exposure", "exposure", "access"}));

  // And one wait completes the access transactions of two origins.
  const Pass other(Script()
                       .post(0, 1, 2, "[1,2]")
                       .start(1, 1, 3, "[0]")
                       .start(2, 1, 3, "[0]")
                       .complete(1, 4, 5, "[0]")
                       .complete(2, 4, 6, "[0]")
                       .wait(0, 4, 7, "[1,2]")
                       .text());
  const std::vector<std::string> last(other.out.order.end() - 4, other.out.order.end());
  EXPECT_EQ(last, (std::vector<std::string>{"call", "exposure", "access", "access"}));
}

TEST(EarlEpochs, OnlyATrueTestEndsAnExposureEpoch) {
  // A false test is a plain exit natively, and WINEXIT synex 0 in a classic trace.
  for (const bool classic : {false, true}) {
    Script script;
    if (classic) script.head("EPILOG 1.9");
    script.post(0, 1, 2, "[1]").start(1, 1, 3, "[0]");
    if (classic) {
      script.line(4, "ENTER", 0, "region=MPI_Win_test");
      script.line(5, "MPI_WINEXIT", 0, "wid=0 group=[1] synex=0");
    } else {
      script.call(0, 4, 5, "MPI_Win_test");
    }
    script.complete(1, 6, 7, "[0]").sync(0, "MPI_Win_test", 8, 9, "[1]");
    script.post(0, 10, 11, "[1]").start(1, 10, 12, "[0]").complete(1, 13, 14, "[0]");
    script.wait(0, 15, 16, "[1]");
    const Pass run(script.text());
    run.expect_only({});
    ASSERT_EQ(run.out.exposures.size(), 2u) << classic;
    EXPECT_EQ(run.out.exposures[0].finish.enter.value, 8);
    EXPECT_EQ(run.out.exposures[0].finish.role(), MpiRole::kWinTest);
    EXPECT_EQ(run.out.exposures[1].accesses[0]->start.enter.value, 10);
  }
}

TEST(EarlEpochs, TwoWindowsAndBothRolesOfOneProcess) {
  // Every process exposes window 0 and accesses window 1 at the same time.
  const Pass run(Script()
                     .post(0, 1, 2, "[1]", 0)
                     .start(0, 3, 4, "[1]", 1)
                     .post(1, 1, 2, "[0]", 1)
                     .start(1, 3, 4, "[0]", 0)
                     .put(0, 5, 6, 1, 0, 1)
                     .put(1, 5, 6, 0, 0, 0)
                     .complete(0, 7, 8, "[1]", 1)
                     .wait(0, 9, 10, "[1]", 0)
                     .complete(1, 7, 8, "[0]", 0)
                     .wait(1, 9, 11, "[0]", 1)
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 2u);
  for (const ExposureCopy& e : run.out.exposures) {
    EXPECT_EQ(e.window, e.accesses[0]->window);
    EXPECT_EQ(e.transfers[0].ops, 1u);
  }
}

TEST(EarlEpochs, EmptyGroupsCountForNobodyAndCompleteAtOnce) {
  const Pass run(Script()
                     .head("MPI_GROUP gid=0 mode=1 count=2")
                     .head("MPI_COMM_REF cid=0 gid=0")
                     .head("MPI_GROUP gid=1 mode=0 count=0 ranks=[]")
                     .head("MPI_COMM_REF cid=1 gid=1")
                     .line(1, "ENTER", 0, "region=MPI_Win_start")
                     .line(2, "MPI_WINEXIT", 0, "wid=0 cid=1 synex=0")
                     .line(3, "ENTER", 0, "region=MPI_Win_complete")
                     .line(4, "MPI_WINEXIT", 0, "wid=0 cid=1 synex=1")
                     .line(5, "ENTER", 1, "region=MPI_Win_post")
                     .line(6, "MPI_WINEXIT", 1, "wid=0 cid=1 synex=0")
                     .line(7, "ENTER", 1, "region=MPI_Win_wait")
                     .line(8, "MPI_WINEXIT", 1, "wid=0 cid=1 synex=1")
                     .start(0, 9, 10, "[1]")
                     .post(1, 9, 10, "[0]")
                     .complete(0, 11, 12, "[1]")
                     .wait(1, 11, 13, "[0]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.accesses.size(), 2u);
  EXPECT_TRUE(run.out.accesses[0].complete);
  EXPECT_TRUE(run.out.accesses[0].targets.empty());
  EXPECT_EQ(run.out.accesses[1].targets[0].ordinal, 0u);
  EXPECT_EQ(run.out.exposures.size(), 2u);
}

TEST(EarlEpochs, OverlappingGroupsCountByPair) {
  // Epoch 1 of process 0 names 1 and 2, epoch 2 only 2; process 2 sees both, process 1 one.
  const Pass run(Script()
                     .start(0, 1, 2, "[1,2]")
                     .complete(0, 3, 4, "[1,2]")
                     .start(0, 5, 6, "[2]")
                     .complete(0, 7, 8, "[2]")
                     .post(2, 9, 10, "[0]")
                     .wait(2, 11, 12, "[0]")
                     .post(2, 13, 14, "[0]")
                     .wait(2, 15, 16, "[0]")
                     .post(1, 17, 18, "[0]")
                     .wait(1, 19, 20, "[0]")
                     .text());
  run.expect_only({});
  EXPECT_EQ(exposure_of(run, 2, 9)->accesses[0]->start.enter.value, 1);
  EXPECT_EQ(exposure_of(run, 2, 13)->accesses[0]->start.enter.value, 5);
  EXPECT_EQ(exposure_of(run, 1, 17)->accesses[0]->start.enter.value, 1);
  const AccessCopy* first = access_of(run, 0, 1);
  EXPECT_EQ(first->exposures[0]->post.enter.value, 17);
  EXPECT_EQ(first->exposures[1]->post.enter.value, 9);
}

TEST(EarlEpochs, AProcessTowardsItself) {
  const Pass run(Script()
                     .post(0, 1, 2, "[0]")
                     .start(0, 3, 4, "[0]")
                     .put(0, 5, 6, 0, 0)
                     .complete(0, 7, 8, "[0]")
                     .wait(0, 9, 10, "[0]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 1u);
  EXPECT_EQ(run.out.exposures[0].accesses[0]->origin, rank(0));
  EXPECT_EQ(run.out.accesses.size(), 1u);
}

TEST(EarlEpochs, ThreadsOfAProcessShareItsEpochs) {
  // Location 2 is a second thread of process 1: it completes what location 1 started.
  const Pass run(Script()
                     .head("LOCATION lid=0 pid=0 tid=0")
                     .head("LOCATION lid=1 pid=1 tid=0")
                     .head("LOCATION lid=2 pid=1 tid=1")
                     .post(0, 1, 2, "[1]")
                     .start(1, 1, 3, "[0]")
                     .put(2, 4, 5, 0, 0)
                     .complete(2, 6, 7, "[0]")
                     .wait(0, 8, 9, "[1]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 1u);
  EXPECT_EQ(raw(run.out.exposures[0].accesses[0]->start.loc), 1u);
  EXPECT_EQ(raw(run.out.exposures[0].accesses[0]->finish.loc), 2u);
  EXPECT_EQ(run.out.exposures[0].transfers[0].ops, 1u);
}

TEST(EarlEpochs, WhatStaysIncompleteComesAtTheEnd) {
  const Pass run(Script()
                     .post(0, 1, 2, "[1,2]")
                     .start(1, 1, 3, "[0]")
                     .complete(1, 4, 5, "[0]")
                     .call(2, 1, 2, "f")
                     .text());
  EXPECT_EQ(run.count(Finding::kIncompleteAccess), 1u);
  EXPECT_EQ(run.count(Finding::kIncompleteExposure), 1u);
  ASSERT_EQ(run.out.exposures.size(), 1u);
  EXPECT_FALSE(run.out.exposures[0].complete);
  EXPECT_FALSE(run.out.exposures[0].has_finish);
  EXPECT_TRUE(run.out.exposures[0].accesses[0].has_value());
  EXPECT_FALSE(run.out.exposures[0].accesses[1].has_value());
  ASSERT_EQ(run.out.accesses.size(), 1u);
  EXPECT_TRUE(run.out.accesses[0].has_finish);
}

TEST(EarlEpochs, APartnerWithoutATraceIsNotAwaited) {
  // Process 1's trace is missing (no location): the epochs of process 0 are over when it is. With
  // LAST_DEF nothing is added to the definitions.
  const Pass run(R"(
MERGED_RUN run_hi=1 run_lo=1 size=3 missing=1 model=0 locks=0
STRING strid=0 str="MPI_Win_start"
STRING strid=1 str="MPI_Win_complete"
STRING strid=2 str="f"
MACHINE mid=0 nodec=1 mnid=2
NODE nid=0 mid=0 cpuc=1 nnid=2
LOCATION lid=0 mid=0 nid=0 pid=0 tid=0
LOCATION lid=2 mid=0 nid=0 pid=2 tid=0
FILE fid=0 fnid=2
REGION rid=0 rnid=0 fid=0 begln=0 endln=0 rdid=2 rtype=1
REGION rid=1 rnid=1 fid=0 begln=0 endln=0 rdid=2 rtype=1
REGION rid=2 rnid=2 fid=0 begln=0 endln=0 rdid=2 rtype=1
MPI_GROUP gid=0 mode=1 count=3
MPI_COMM_REF cid=0 gid=0
MPI_GROUP gid=1 mode=0 count=1 ranks=[1]
MPI_COMM_REF cid=1 gid=1
MPI_WIN wid=0 cid=0
NUM_EVENTS eventc=6
LAST_DEF
ENTER lid=0 time=1 rid=0
MPI_WINEXIT lid=0 time=2 wid=0 cid=1 synex=0
ENTER lid=0 time=3 rid=1
MPI_WINEXIT lid=0 time=4 wid=0 cid=1 synex=1
ENTER lid=2 time=5 rid=2
EXIT lid=2 time=6
)");
  run.expect_only({Finding::kIncompleteAccess});
  ASSERT_EQ(run.out.accesses.size(), 1u);
  EXPECT_FALSE(run.out.accesses[0].complete);
  EXPECT_EQ(run.out.order,
            (std::vector<std::string>{"call", "call", "access epoch", "access", "call"}));
}

TEST(EarlEpochs, EpochsOpenedTwiceOrNeverAreCounted) {
  const Pass run(Script()
                     .start(0, 1, 2, "[1]")
                     .start(0, 3, 4, "[1]")
                     .complete(0, 5, 6, "[1]")
                     .complete(0, 7, 8, "[1]")
                     .wait(1, 9, 10, "[0]")
                     .text());
  EXPECT_EQ(run.count(Finding::kUnclosedEpoch), 1u);
  EXPECT_EQ(run.count(Finding::kUnopenedEpoch), 2u);
  EXPECT_EQ(run.out.accesses.size(), 3u);
  EXPECT_EQ(run.out.exposures.size(), 1u);
}

TEST(EarlEpochs, OrdinalsAreTakenUpAfterAGap) {
  // Process 1 exposed three times; process 0 recorded its first and third access epoch only, and
  // was inside the third when recording came back.
  const Pass run(Script()
                     .line(0, "ENTER", 0, "region=main")
                     .start(0, 1, 2, "[1]")
                     .complete(0, 3, 4, "[1]")
                     .line(5, "LOG_OFF", 0)
                     .line(6, "LOG_ON", 0)
                     .line(6, "EPOCH_STATE", 0, "wid=0 plid=1 access=3 exposure=0 ops=4 open=1")
                     .put(0, 7, 8, 1, 9)
                     .complete(0, 9, 10, "[1]")
                     .start(0, 11, 12, "[1]")
                     .complete(0, 13, 14, "[1]")
                     .line(20, "EXIT", 0)
                     .post(1, 1, 2, "[0]")
                     .wait(1, 3, 4.5, "[0]")
                     .post(1, 5, 5.1, "[0]")
                     .wait(1, 5.2, 5.3, "[0]")
                     .post(1, 5.5, 5.6, "[0]")
                     .wait(1, 5.7, 10.5, "[0]")
                     .post(1, 11, 12.5, "[0]")
                     .wait(1, 13, 15, "[0]")
                     .text());
  EXPECT_EQ(exposure_of(run, 1, 1)->accesses[0]->start.enter.value, 1);
  EXPECT_FALSE(exposure_of(run, 1, 5)->accesses[0].has_value());  // never recorded
  EXPECT_FALSE(exposure_of(run, 1, 5)->complete);
  const ExposureCopy* third = exposure_of(run, 1, 5.5);
  ASSERT_TRUE(third->accesses[0].has_value());
  EXPECT_FALSE(third->accesses[0]->has_start);
  EXPECT_EQ(third->accesses[0]->finish.enter.value, 9);
  EXPECT_EQ(third->transfers[0].ops, 5u);
  EXPECT_EQ(third->transfers[0].unrecorded, 4u);
  EXPECT_EQ(third->transfers[0].last_exit.value, 8);
  const ExposureCopy* fourth = exposure_of(run, 1, 11);
  EXPECT_EQ(fourth->accesses[0]->start.enter.value, 11);
  EXPECT_TRUE(fourth->complete);
  EXPECT_GE(run.count(Finding::kGap), 1u);
}

TEST(EarlEpochs, StatesThatSayWhatIsKnownChangeNothing) {
  // At a flush the state of the open epoch is repeated.
  const Pass run(Script()
                     .post(0, 1, 2, "[1]")
                     .start(1, 1, 3, "[0]")
                     .put(1, 4, 5, 0, 0)
                     .line(5, "EPOCH_STATE", 1, "wid=0 plid=0 access=1 exposure=0 ops=1 open=1")
                     .line(5, "EPOCH_STATE", 0, "wid=0 plid=1 access=0 exposure=1 ops=0 open=2")
                     .complete(1, 6, 7, "[0]")
                     .wait(0, 6, 8, "[1]")
                     .text());
  // The records stand between calls here, as no root region was recorded.
  run.expect_only({});
  ASSERT_EQ(run.out.exposures.size(), 1u);
  EXPECT_TRUE(run.out.exposures[0].complete);
  EXPECT_EQ(run.out.exposures[0].transfers[0].ops, 1u);
  EXPECT_EQ(run.out.exposures[0].transfers[0].unrecorded, 0u);
}

TEST(EarlEpochs, MarkedTransfersAreCountedInTheirEpoch) {
  const Pass run(Script()
                     .post(0, 1, 2, "[1]")
                     .start(1, 1, 3, "[0]")
                     .put(1, 4, 5, 0, 7)
                     .put(1, 5.5, 5.6, 0, 8)
                     .complete(1, 6, 7, "[0]")
                     .line(6.5, "RMA_MARK", 0, "olid=1 rmaid=7 reason=1")
                     .line(6.5, "MPI_PUT_1TE", 0, "slid=1 wid=0 rmaid=7 recvd=8")
                     .line(6.5, "MPI_PUT_1TE", 0, "slid=1 wid=0 rmaid=8 recvd=8")
                     .wait(0, 6, 8, "[1]")
                     .text());
  run.expect_only({Finding::kMarkedTransfer});
  ASSERT_EQ(run.out.marked.size(), 1u);
  EXPECT_EQ(raw(run.out.marked[0]), 7u);
  EXPECT_EQ(run.out.exposures[0].transfers[0].ops, 2u);
  EXPECT_EQ(run.out.exposures[0].transfers[0].marked, 1u);
}

TEST(EarlEpochs, FreeClosesWhatIsOpen) {
  Script script;
  script.start(0, 1, 2, "[1]").post(1, 1, 2, "[0]");
  for (const int lid : {0, 1}) {
    script.line(3, "ENTER", lid, "region=MPI_Win_free");
    script.line(4, "MPI_WINCOLLEXIT", lid, "wid=0");
  }
  const Pass run(script.text());
  EXPECT_EQ(run.count(Finding::kUnclosedEpoch), 2u);
  EXPECT_EQ(run.out.accesses.size(), 1u);
  EXPECT_EQ(run.out.exposures.size(), 1u);
  EXPECT_FALSE(run.out.accesses[0].has_finish);
}

}  // namespace
}  // namespace kojak::earl
