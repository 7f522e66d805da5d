// Which epoch a transfer belongs to, calls that a late Win_post may have blocked, passive epochs.
#include "tests/unit/earl_gats_text.h"
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {
namespace {

TEST(EarlTransfers, ACallIsOfferedWithThePostThatCameDuringIt) {
  // put 1 [4,6] saw the post that entered at 5; put 2 began after it.
  const Pass run(Script()
                     .start(1, 1, 2, "[0]")
                     .put(1, 4, 6, 0, 0)
                     .put(1, 7, 8, 0, 1)
                     .post(0, 5, 5.5, "[1]")
                     .complete(1, 9, 10, "[0]")
                     .wait(0, 6, 11, "[1]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.epoch_calls.size(), 1u);
  EXPECT_EQ(run.out.epoch_calls[0].call.enter.value, 4);
  EXPECT_EQ(run.out.epoch_calls[0].posts, std::vector<double>{5});
}

TEST(EarlTransfers, ACallThatReturnedBeforeAnyPostIsNotOffered) {
  const Pass run(Script()
                     .start(1, 1, 2, "[0]")
                     .put(1, 3, 4, 0, 0)
                     .post(0, 5, 6, "[1]")
                     .complete(1, 7, 8, "[0]")
                     .wait(0, 7, 9, "[1]")
                     .text());
  EXPECT_TRUE(run.out.epoch_calls.empty());
}

TEST(EarlTransfers, ACallWaitsForAPostThatHasNotBeenLeftYet) {
  // At the exit of the put, process 0 is inside Win_post [5,9]: only its exit tells that it is the
  // post of this epoch. Of two targets both posts count, the known one and the open one.
  const Pass run(Script()
                     .start(2, 1, 2, "[0,1]")
                     .post(1, 4, 4.5, "[2]")
                     .put(2, 3, 6, 1, 0)
                     .post(0, 5, 9, "[2]")
                     .complete(2, 10, 11, "[0,1]")
                     .wait(0, 10, 12, "[2]")
                     .wait(1, 10, 12, "[2]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.epoch_calls.size(), 1u);
  EXPECT_EQ(run.out.epoch_calls[0].posts, (std::vector<double>{5, 4}));
  // It came with the exit of the post.
  const auto at = std::find(run.out.order.begin(), run.out.order.end(), "epoch call");
  EXPECT_EQ(std::count(run.out.order.begin(), at, "call"), 4);
}

TEST(EarlTransfers, APostOfAnotherEpochDoesNotCount) {
  // Process 0 posts window 1 while the put on window 0 lasts; its post of window 0 comes later.
  const Pass run(Script()
                     .start(1, 1, 2, "[0]", 0)
                     .put(1, 3, 6, 0, 0, 0)
                     .post(0, 4, 7, "[2]", 1)
                     .post(0, 8, 9, "[1]", 0)
                     .complete(1, 10, 11, "[0]", 0)
                     .wait(0, 12, 13, "[1]", 0)
                     .text());
  EXPECT_TRUE(run.out.epoch_calls.empty());
}

TEST(EarlTransfers, APostAtTheVeryExitCountsWhateverTheOrderInTheFile) {
  for (const bool post_first : {false, true}) {
    Script script;
    script.start(1, 1, 2, "[0]");
    if (post_first) script.post(0, 4, 5, "[1]");
    script.put(1, 3, 4, 0, 0);
    if (!post_first) script.post(0, 4, 5, "[1]");
    script.complete(1, 6, 7, "[0]").wait(0, 6, 8, "[1]");
    const Pass run(script.text());
    ASSERT_EQ(run.out.epoch_calls.size(), 1u) << post_first;
    EXPECT_EQ(run.out.epoch_calls[0].posts, std::vector<double>{4});
  }
}

TEST(EarlTransfers, BetweenNodesAPostMayComeWithinTheClocksError) {
  // Clock errors of 0.1 s on each node: delta = 0.2. The put [3,4] ended 0.15 s before the post at
  // 4.15 entered; the put [1.5,2] is out of its reach.
  const std::string head =
      "NODE nid=0\nNODE nid=1\nCLOCK_ERROR nid=0 bound=0.1\nCLOCK_ERROR nid=1 bound=0.1\n"
      "LOCATION lid=0 nid=0 pid=0\nLOCATION lid=1 nid=1 pid=1\n";
  const Pass run(Script()
                     .head(head)
                     .start(1, 1, 1.2, "[0]")
                     .put(1, 1.5, 2, 0, 0)
                     .put(1, 3, 4, 0, 1)
                     .post(0, 4.15, 4.18, "[1]")
                     .complete(1, 5, 6, "[0]")
                     .wait(0, 5, 7, "[1]")
                     .text());
  run.expect_only({});
  EXPECT_DOUBLE_EQ(run.trace->delta(0u, 1u).value, 0.2);
  EXPECT_EQ(run.trace->delta(0u, 0u).value, 0);
  ASSERT_EQ(run.out.epoch_calls.size(), 1u);
  EXPECT_EQ(run.out.epoch_calls[0].call.enter.value, 3);
  EXPECT_EQ(run.out.epoch_calls[0].posts, std::vector<double>{4.15});
}

TEST(EarlTransfers, AGetIsIssuedWhereItsOriginIs) {
  const Pass run(Script()
                     .post(0, 1, 2, "[1]")
                     .start(1, 1, 3, "[0]")
                     .line(4, "ENTER", 1, "region=MPI_Get")
                     .line(4, "MPI_GET_1TO", 1, "rmaid=3 wid=0")
                     .line(4, "MPI_GET_1TS", 0, "dlid=1 wid=0 rmaid=3 sent=16")
                     .line(5, "EXIT", 1)
                     .complete(1, 6, 7, "[0]")
                     .wait(0, 6, 8, "[1]")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.transfers.size(), 1u);
  const TransferCopy& t = run.out.transfers[0];
  EXPECT_TRUE(t.get);
  EXPECT_EQ(t.origin, rank(1));
  EXPECT_EQ(t.target, rank(0));
  EXPECT_EQ(t.bytes, 16u);
  EXPECT_EQ(run.path(t.cnode), "MPI_Get");
  EXPECT_EQ(run.out.exposures[0].transfers[0].last_exit.value, 5);
}

TEST(EarlTransfers, AnAtomicOperationIsTwoTransfersOfOneCall) {
  const Pass run(Script()
                     .post(0, 1, 2, "[1]")
                     .start(1, 1, 3, "[0]")
                     .line(4, "ENTER", 1, "region=MPI_Get_accumulate")
                     .line(4, "MPI_GET_1TO", 1, "rmaid=3 wid=0")
                     .line(4, "MPI_GET_1TS", 0, "dlid=1 wid=0 rmaid=3 sent=8")
                     .line(4, "MPI_PUT_1TS", 1, "dlid=0 wid=0 rmaid=4 sent=8")
                     .line(5, "EXIT", 1)
                     .complete(1, 6, 7, "[0]")
                     .wait(0, 6, 8, "[1]")
                     .text());
  run.expect_only({});
  EXPECT_EQ(run.out.transfers.size(), 2u);
  EXPECT_EQ(run.out.exposures[0].transfers[0].ops, 2u);
}

TEST(EarlTransfers, ALockGoesBeforeAnAccessEpochAndThatBeforeTheFence) {
  const Pass run(Script()
                     .head("MPI_GROUP gid=5 mode=1 count=3")
                     .head("MPI_COMM_REF cid=0 gid=5")
                     .start(0, 1, 2, "[1]")
                     .line(3, "ENTER", 0, "region=MPI_Win_lock")
                     .line(4, "MPI_WIN_LOCK", 0, "llid=2 wid=0 ltype=1")
                     .line(4, "EXIT", 0)
                     .put(0, 5, 6, 2, 0)
                     .put(0, 7, 8, 1, 1)
                     .put(0, 9, 10, 0, 2)
                     .line(11, "ENTER", 0, "region=MPI_Win_unlock")
                     .line(12, "MPI_WIN_UNLOCK", 0, "llid=2 wid=0")
                     .line(12, "EXIT", 0)
                     .put(0, 13, 14, 2, 3)
                     .call(1, 13, 14, "f")
                     .call(2, 13, 14, "f")
                     .text());
  ASSERT_EQ(run.out.transfers.size(), 4u);
  EXPECT_EQ(run.out.transfers[0].epoch, EpochKind::kLock);
  EXPECT_EQ(run.out.transfers[1].epoch, EpochKind::kAccess);
  EXPECT_EQ(run.out.transfers[2].epoch, EpochKind::kFence);
  EXPECT_EQ(run.out.transfers[3].epoch, EpochKind::kFence);
  ASSERT_EQ(run.out.passive.size(), 1u);
  const PassiveEpoch& e = run.out.passive[0];
  EXPECT_TRUE(e.exclusive);
  EXPECT_EQ(e.lock.enter.value, 3);
  EXPECT_EQ(e.unlock.enter.value, 11);
  EXPECT_EQ(e.proof.value, 12);
  ASSERT_EQ(e.targets.size(), 1u);
  EXPECT_EQ(e.targets[0].transfers.last_exit.value, 6);
}

TEST(EarlTransfers, LockAllAndTheFirstProofByAFlush) {
  const Pass run(Script()
                     .line(1, "ENTER", 0, "region=MPI_Win_lock_all")
                     .line(2, "MPI_ASSERT", 0, "wid=0 assertion=1")
                     .line(2, "MPI_WIN_LOCK_ALL", 0, "wid=0")
                     .line(2, "EXIT", 0)
                     .line(3, "ENTER", 0, "region=MPI_Win_flush")
                     .line(4, "MPI_WIN_FLUSH", 0, "tlid=1 wid=0")
                     .line(4, "EXIT", 0)
                     .put(0, 5, 6, 1, 0)
                     .line(7, "ENTER", 0, "region=MPI_Win_flush")
                     .line(8, "MPI_WIN_FLUSH", 0, "tlid=1 wid=0")
                     .line(8, "EXIT", 0)
                     .line(9, "ENTER", 0, "region=MPI_Win_unlock_all")
                     .line(10, "MPI_WIN_UNLOCK_ALL", 0, "wid=0")
                     .line(10, "EXIT", 0)
                     .call(1, 11, 12, "f")
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.passive.size(), 1u);
  const PassiveEpoch& e = run.out.passive[0];
  EXPECT_TRUE(e.all);
  EXPECT_TRUE(e.nocheck);
  // The flush at [3,4] had nothing to complete and proves nothing.
  EXPECT_EQ(e.proof.value, 8);
  EXPECT_EQ(run.out.transfers[0].epoch, EpochKind::kLockAll);
}

// One epoch on process 1: the lines between lock [1, 2] and unlock [19, 20], and its proof.
double proof_with(const std::function<void(Script&)>& between) {
  Script script;
  script.line(1, "ENTER", 0, "region=MPI_Win_lock")
      .line(2, "MPI_WIN_LOCK", 0, "llid=1 wid=0 ltype=1")
      .line(2, "EXIT", 0);
  between(script);
  script.line(19, "ENTER", 0, "region=MPI_Win_unlock")
      .line(20, "MPI_WIN_UNLOCK", 0, "llid=1 wid=0")
      .line(20, "EXIT", 0)
      .call(1, 21, 22, "f");
  const Pass run(script.text());
  EXPECT_EQ(run.out.passive.size(), 1u);
  return run.out.passive.empty() ? 0 : run.out.passive[0].proof.value;
}
void flush(Script& script, double enter, double exit, bool local) {
  script.line(enter, "ENTER", 0, local ? "region=MPI_Win_flush_local" : "region=MPI_Win_flush")
      .line(exit, "MPI_WIN_FLUSH", 0, local ? "tlid=1 wid=0 local=1" : "tlid=1 wid=0 local=0")
      .line(exit, "EXIT", 0);
}
void get(Script& script, double enter, double exit, const char* region) {
  script.line(enter, "ENTER", 0, std::string("region=") + region)
      .line(enter, "MPI_GET_1TO", 0, "rmaid=7 wid=0")
      .line(enter, "MPI_GET_1TS", 1, "dlid=0 wid=0 rmaid=7 sent=8")
      .line(exit, "EXIT", 0);
}
void wait(Script& script, double enter, double exit, int rmaid) {
  script.line(enter, "ENTER", 0, "region=MPI_Wait")
      .line(exit, "MPI_RMA_COMPLETE", 0, "wid=0 rmaid=" + std::to_string(rmaid))
      .line(exit, "EXIT", 0);
}

TEST(EarlTransfers, ALocalFlushProvesTheLockByTheDataOfAGet) {
  EXPECT_EQ(proof_with([](Script& s) {
              get(s, 3, 4, "MPI_Get");
              flush(s, 5, 6, true);
            }),
            6);
}

TEST(EarlTransfers, BoundaryALocalFlushOfPutsLeavesTheProofToAFlush) {
  // The put is complete at its origin at 6, but it may not have left it: the flush [7, 8] proves.
  EXPECT_EQ(proof_with([](Script& s) {
              s.put(0, 3, 4, 1, 0);
              flush(s, 5, 6, true);
              flush(s, 7, 8, false);
            }),
            8);
  // A second local flush has no get to wait for.
  EXPECT_EQ(proof_with([](Script& s) {
              s.put(0, 3, 4, 1, 0);
              flush(s, 5, 6, true);
              flush(s, 7, 8, true);
            }),
            20);
}

TEST(EarlTransfers, ALocalCompletionOfAPutProvesNothing) {
  EXPECT_EQ(proof_with([](Script& s) {
              s.put(0, 3, 4, 1, 0);
              flush(s, 5, 6, true);
            }),
            20);
  // The request of a put, too; that of a get brings its data.
  EXPECT_EQ(proof_with([](Script& s) {
              s.line(3, "ENTER", 0, "region=MPI_Rput")
                  .line(3, "MPI_PUT_1TS", 0, "dlid=1 wid=0 rmaid=7 sent=8")
                  .line(4, "EXIT", 0);
              wait(s, 5, 6, 7);
            }),
            20);
  EXPECT_EQ(proof_with([](Script& s) {
              get(s, 3, 4, "MPI_Rget");
              wait(s, 5, 6, 7);
            }),
            6);
  // Flushed before: the proof is the flush.
  EXPECT_EQ(proof_with([](Script& s) {
              get(s, 3, 4, "MPI_Rget");
              flush(s, 4, 5, false);
              wait(s, 5, 6, 7);
            }),
            5);
}

TEST(EarlTransfers, ALockOfAllMayHaveEndedUnseen) {
  const auto kind_after = [](const char* open) {
    const Pass run(Script()
                       .head("MPI_GROUP gid=5 mode=1 count=3")
                       .head("MPI_COMM_REF cid=0 gid=5")
                       .line(1, "ENTER", 0, "region=MPI_Win_lock_all")
                       .line(2, "MPI_WIN_LOCK_ALL", 0, "wid=0")
                       .line(2, "EXIT", 0)
                       .line(3, "LOG_OFF", 0, "")
                       .line(4, "LOG_ON", 0, "")
                       .line(4, "WIN_STATE", 0, std::string("wid=0 fences=1 ") + open)
                       .put(0, 5, 6, 1, 0)
                       .call(1, 11, 12, "f")
                       .text());
    return run.out.transfers.empty() ? EpochKind::kNone : run.out.transfers[0].epoch;
  };
  EXPECT_EQ(kind_after("open=36"), EpochKind::kLockAll);
  EXPECT_EQ(kind_after("open=0"), EpochKind::kFence);
}

// A trace that ends while recording is off says nothing of what was open before; one that ends with
// recording on does.
TEST(EarlTransfers, ALockThatIsOpenWhenRecordingGoesOffIsNoFault) {
  const auto unclosed = [](bool resumes) {
    Script s;
    s.head("MPI_GROUP gid=5 mode=1 count=3").head("MPI_COMM_REF cid=0 gid=5");
    s.line(1, "ENTER", 0, "region=MPI_Win_lock_all").line(2, "MPI_WIN_LOCK_ALL", 0, "wid=0");
    s.line(2, "EXIT", 0).line(3, "LOG_OFF", 0, "");
    if (resumes) s.line(4, "LOG_ON", 0, "").line(4, "WIN_STATE", 0, "wid=0 fences=1 open=36");
    return Pass(s.text()).count(Finding::kUnclosedEpoch);
  };
  EXPECT_EQ(unclosed(false), 0u);
  EXPECT_EQ(unclosed(true), 1u);
}

TEST(EarlTransfers, ShmemTransfersHaveNoEpoch) {
  const Pass run(Script()
                     .line(1, "ENTER", 0, "region=shmem_put")
                     .line(1, "PUT_1TS", 0, "dlid=1 rmaid=0 sent=8")
                     .line(2, "PUT_1TE", 1, "slid=0 rmaid=0 recvd=8")
                     .line(2, "EXIT", 0)
                     .line(3, "ENTER", 0, "region=shmem_get")
                     .line(3, "GET_1TS", 1, "dlid=0 rmaid=1 sent=8")
                     .line(4, "GET_1TE", 0, "slid=1 rmaid=1 recvd=8")
                     .line(4, "EXIT", 0)
                     .text());
  run.expect_only({});
  ASSERT_EQ(run.out.transfers.size(), 2u);
  EXPECT_EQ(run.out.transfers[0].epoch, EpochKind::kNone);
  EXPECT_EQ(run.out.transfers[1].origin, rank(0));
}

}  // namespace
}  // namespace kojak::earl
