// In which call each process stood when its run was ended, since when, and for whom. Times are
// those of the lines: a process stands from the ENTER of its last call to its PROCESS_ENDED.
// Long because every kind of call that can wait has its cases here.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "expert/ends/envelopes.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/last_call_words.h"
#include "tests/unit/expert_ended_run.h"

namespace kojak::expert {
namespace {

TEST(LastCalls, AReceiveWithoutSend) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .line("ENTER", 1, 3, "region=solve")
                            .line("EXIT", 1, 4, ""));
  EXPECT_EQ(found.of(0).awaits, "a message from rank 1 (tag 5)");
  EXPECT_EQ(found.of(0).ranks, RankNumbers{1});
  EXPECT_EQ(found.of(0).since.value, 2);
  EXPECT_EQ(found.of(0).until.value, kAllEnded);
  EXPECT_EQ(found.of(1).function, nullptr);
  EXPECT_EQ(found.of(1).since.value, 4);  // its latest event
  EXPECT_EQ(circles_of(found), RankCircles{});
  EXPECT_EQ(
      found.said,
      "Where the processes stood when the run was ended No deadlock: rank 1 has computed since "
      "4.000 s; rank 0 waits for it. rank 0 has been in MPI_Recv for "
      "7.000 s, and waits for a message from rank 1 (tag 5). rank 1 is outside of "
      "MPI calls that can wait, in main since 4.000 s, for 5.000 s.");
}
// Samples are no sign of life in MPI, and tell what is computed: the function with the most of
// those since the latest event, at its line with the most.
TEST(LastCalls, WhatAProcessComputesThatDoesNotComeBack) {
  const std::string sites =
      "STRING strid=100 cntc=0 str=\"hang.c\"\n"
      "STRING strid=101 cntc=0 str=\"stuck\"\n"
      "STRING strid=102 cntc=0 str=\"before\"\n"
      "STRING strid=103 cntc=0 str=\"COMPUTING\"\n"
      "FILE fid=0 fnid=100\n"
      "REGION rid=101 rnid=101 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
      "REGION rid=102 rnid=102 fid=0 begln=absent endln=absent rdid=absent rtype=1\n"
      "REGION rid=103 rnid=103 fid=absent begln=absent endln=absent rdid=absent rtype=0\n"
      "CALL_SITE csid=0 fid=0 lno=17 erid=103 lrid=101\n"
      "CALL_SITE csid=1 fid=0 lno=18 erid=103 lrid=101\n"
      "CALL_SITE csid=2 fid=0 lno=40 erid=103 lrid=102\n";
  const LastFound found(sites + EndedRun(2)
                                    .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                                    .line("SAMPLE", 1, 2, "csid=2 count=90")
                                    .line("ENTER", 1, 3, "region=solve")
                                    .line("EXIT", 1, 4, "")
                                    .line("SAMPLE", 1, 5, "csid=0 count=2")
                                    .line("SAMPLE", 1, 6, "csid=2 count=4")
                                    .line("SAMPLE", 1, 7, "csid=1 count=3")
                                    .text());
  EXPECT_EQ(found.of(1).since.value, 4);
  EXPECT_EQ(found.of(1).until.value, kAllEnded);
  EXPECT_EQ(found.of(1).computes, CallSiteId{1});
  EXPECT_EQ(
      found.said,
      "Where the processes stood when the run was ended No deadlock: rank 1 has computed in stuck "
      "(hang.c:18) since 4.000 s; rank 0 waits for it. rank 0 has been in MPI_Recv for "
      "7.000 s, and waits for a message from rank 1 (tag 5), which computes in "
      "stuck (hang.c:18). rank 1 is outside of MPI calls that can wait, in stuck (hang.c:18) "
      "since 4.000 s, for 5.000 s.");
}
// Rank 1 tests every 0.1 s from 3 s on, up to the end; rank 2 did so until 4 s, and does something
// else since.
TEST(LastCalls, AProcessThatPollsIsNamedWithItsCount) {
  EndedRun run(4);
  run.stands(0, 2, "MPI_Recv", "slid=1 tag=5").stands(3, 2, "MPI_Recv", "slid=2 tag=5");
  for (const auto& [rank, polls] : std::map<unsigned, int>{{1, 60}, {2, 11}}) {
    for (int i = 0; i < polls; ++i) {
      run.line("ENTER", rank, 3 + 0.1 * i, "region=MPI_Test")
          .line("EXIT", rank, 3.001 + 0.1 * i, "");
    }
  }
  const LastFound found(run);
  EXPECT_EQ(found.of(1).state, LastCall::State::kPolls);
  EXPECT_EQ(found.of(1).polls, 60u);
  EXPECT_EQ(found.of(1).since.value, 3);
  EXPECT_EQ(found.of(2).state, LastCall::State::kComputes);
  EXPECT_NE(found.said.find("No deadlock: rank 1 polls (MPI_Test, 60 times since 3.000 s); rank 0 "
                            "waits for it; rank 2 has computed since 4.001 s, after MPI_Test; "
                            "rank 3 waits for it."),
            std::string::npos)
      << found.said;
  EXPECT_NE(found.said.find("rank 1 polls by MPI_Test since 3.000 s, for 6.000 s, 60 times."),
            std::string::npos)
      << found.said;
}
// Rank 1 tests a receive from rank 0, rank 2 one from any rank and others with it, rank 3 a send.
TEST(LastCalls, WhatAProcessPollsForIsSaid) {
  EndedRun run(4);
  run.stands(0, 2, "MPI_Recv", "slid=1 tag=5");
  run.line("ENTER", 1, 2.1, "region=MPI_Irecv")
      .line("MPI_RECV_REQUEST", 1, 2.1, "reqid=4 slid=0 cid=0 tag=7")
      .line("EXIT", 1, 2.2, "")
      .line("ENTER", 2, 2.3, "region=MPI_Irecv")
      .line("MPI_RECV_REQUEST", 2, 2.3, "reqid=4 cid=0")
      .line("EXIT", 2, 2.4, "")
      .line("ENTER", 3, 2.5, "region=MPI_Issend")
      .line("ATTR_UI4 kind=2 value=9\nMPI_SEND", 3, 2.5, "dlid=0 cid=0 tag=2 sent=8")
      .line("EXIT", 3, 2.6, "");
  for (int i = 0; i < 60; ++i) {
    for (const auto& [rank, function, request] :
         {std::tuple(1u, "MPI_Test", 4), {2u, "MPI_Testsome", 4}, {3u, "MPI_Test", 9}}) {
      run.line("ENTER", rank, 3 + 0.1 * i + 0.01 * rank, std::string("region=") + function)
          .line("MPI_REQUEST_TESTED", rank, 3 + 0.1 * i + 0.01 * rank,
                "reqid=" + std::to_string(request))
          .line("EXIT", rank, 3.001 + 0.1 * i + 0.01 * rank, "");
    }
  }
  const LastFound found(run);
  EXPECT_EQ(found.of(1).polls_for, "a message from rank 0 (tag 7)");
  EXPECT_EQ(found.of(2).polls_for, "a message from any rank");
  EXPECT_TRUE(found.of(2).polls_for_more);
  EXPECT_EQ(found.of(3).polls_for, "the receive of its message to rank 0 (tag 2)");
  EXPECT_NE(found.said.find("rank 1 polls for a message from rank 0 (tag 7) (MPI_Test, 60 times "
                            "since 3.010 s); rank 0 waits for it"),
            std::string::npos)
      << found.said;
  EXPECT_NE(found.said.find("60 times, for a message from any rank at least."), std::string::npos)
      << found.said;
}
// Series that were open when their processes ended, at 9. What was asked for is said for each kind.
TEST(LastCalls, WhatASeriesThatWasOpenAsksForIsSaid) {
  struct Asked {
    const char* region;
    const char* member;
    const char* words;
  };
  const std::vector<Asked> all{
      {"MPI_Iprobe", "kind=2 plid=0 cid=0 tag=7", "a message from rank 0 (tag 7)"},
      {"MPI_Iprobe", "kind=2 cid=0", "a message from any rank"},
      {"MPI_Test", "kind=1 reqid=4 requests=1", "a message from rank 0 (tag 5)"},
      {"MPI_Get", "kind=4 wid=0 tlid=0 disp=8 bytes=4", "another value in the window of rank 0"},
      {"MPI_Compare_and_swap", "kind=5 wid=0 tlid=0 disp=8 bytes=4",
       "the value to swap in the window of rank 0"},
      {"shmem_int_test", "kind=7 disp=64 bytes=4", "a write to its variable"},
      {"shmem_test_lock", "kind=7 disp=16", "shmem_clear_lock of rank 0"},
      {"shmem_test_lock", "kind=7 disp=24", "a lock"}};
  EndedRun run(static_cast<unsigned>(all.size()) + 1);
  run.line("ENTER", 0, 1.5, "region=shmem_set_lock")
      .line("ALOCK", 0, 1.5, "lkid=16 glid=absent")
      .line("EXIT", 0, 1.5, "");
  run.stands(0, 2, "MPI_Recv", "slid=3 tag=5");
  run.line("ENTER", 3, 2.5, "region=MPI_Irecv")
      .line("MPI_RECV_REQUEST", 3, 2.5, "reqid=4 slid=0 cid=0 tag=5")
      .line("EXIT", 3, 2.5, "");
  for (unsigned i = 0; i < all.size(); ++i) {
    const std::string region = std::string("region=") + all[i].region;
    run.line("ENTER", i + 1, 3, region)
        .line("MPI_POLLED", i + 1, 8.99,
              "count=4000 begin=3 called=1 rest=1 judged=1 end=6 flags=4 members=1")
        .line("MPI_POLL", i + 1, 8.99,
              region + " count=4000 first_enter=3 last_enter=8.98 " + all[i].member)
        .line("EXIT", i + 1, 8.99, "");
  }
  const LastFound found(run);
  for (unsigned i = 0; i < all.size(); ++i) {
    const LastCall& call = found.of(i + 1);
    EXPECT_EQ(call.state, LastCall::State::kPolls) << i;
    EXPECT_EQ(call.polls, 4000u) << i;
    EXPECT_EQ(call.since.value, 3) << i;
    EXPECT_EQ(call.polls_for, all[i].words);
    EXPECT_FALSE(call.polls_for_more);
  }
  EXPECT_NE(found.said.find("rank 4 polls by MPI_Get since 3.000 s, for 6.000 s, 4,000 times, for "
                            "another value in the window of rank 0."),
            std::string::npos)
      << found.said;
}
// The silence behind a series that was open: up to a quarter of the series it is one of its rounds,
// or what the machine did until the end was seen. Longer, the loop was left; so it was, too, where
// the series ended by something else.
TEST(LastCalls, ASeriesThatWasOpenMayBeSilentForAQuarter) {
  const auto state = [](double last, int polls, int end) {
    EndedRun run(2);
    run.stands(0, 2, "MPI_Recv", "slid=1 tag=5");
    const std::string count = "count=" + std::to_string(polls);
    run.line("ENTER", 1, 1.5, "region=MPI_Iprobe")
        .line("MPI_POLLED", 1, last,
              count + " begin=1.5 called=0.5 rest=0.5 judged=1 end=" + std::to_string(end) +
                  " flags=4 members=1")
        .line("MPI_POLL", 1, last,
              "kind=2 region=MPI_Iprobe " + count + " first_enter=1.5 last_enter=1.5 cid=0")
        .line("EXIT", 1, last, "");
    return LastFound(run).of(1).state;
  };
  EXPECT_EQ(state(7.75, 4000, 6), LastCall::State::kPolls);
  EXPECT_EQ(state(7.5, 4000, 6), LastCall::State::kPolls);  // 1.5 of 6
  EXPECT_EQ(state(7.4375, 4000, 6), LastCall::State::kComputes);
  EXPECT_EQ(state(7.5, 4000, 3), LastCall::State::kComputes);
  EXPECT_EQ(state(7.5, 4, 6), LastCall::State::kPolls);  // few, but it waits in them
  EXPECT_EQ(state(8.99, 4, 3), LastCall::State::kComputes);
}
// Each waits for the other, but the one polls for it: it goes on.
TEST(LastCalls, WhoPollsIsInNoCircle) {
  const auto run = [](int polls) {
    EndedRun ended(2);
    ended.stands(0, 2, "MPI_Recv", "slid=1 tag=5");
    for (int i = 0; i < polls; ++i) {
      ended.line("ENTER", 1, 8 + 0.01 * i, "region=MPI_Iprobe")
          .line("EXIT", 1, 8.001 + 0.01 * i, "");
    }
    return LastFound(ended);
  };
  EXPECT_EQ(run(99).of(1).state, LastCall::State::kPolls);
  EXPECT_EQ(circles_of(run(99)), RankCircles{});
  EXPECT_EQ(run(9).of(1).state, LastCall::State::kComputes);  // too few to say so
}
// Recording was off when the run was ended: nobody knows what rank 1 did.
TEST(LastCalls, WhatWasNotRecordedIsNotComputing) {
  const LastFound found(
      EndedRun(2).stands(0, 2, "MPI_Recv", "slid=1 tag=5").line("LOG_OFF", 1, 3, ""));
  EXPECT_EQ(found.of(1).state, LastCall::State::kUnknown);
  EXPECT_NE(found.said.find("ended What rank 1 did was not recorded (recording was off); rank 0 "
                            "waits for it."),
            std::string::npos)
      << found.said;
  EXPECT_NE(found.said.find("rank 1 was not recorded (recording was off) since 3.000 s"),
            std::string::npos)
      << found.said;
}
TEST(LastCalls, ANoteBesideAFunctionThatIsNotOfMpiSaysNothing) {
  const LastFound found(
      EndedRun(2).stands(0, 2, "solve", "slid=1 tag=5").line("ENTER", 1, 3, "region=solve"));
  EXPECT_EQ(found.of(0).ranks, RankNumbers{});
  EXPECT_EQ(found.of(0).awaits, "");
  EXPECT_EQ(found.of(0).function, nullptr);
}
TEST(LastCalls, AMessageThatWasSentIsNotMissing) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .line("ENTER", 1, 3, "region=MPI_Send")
                            .line("MPI_SEND", 1, 3, "dlid=0 cid=0 tag=5 sent=8")
                            .line("EXIT", 1, 4, ""));
  EXPECT_EQ(found.of(0).ranks, RankNumbers{});
  EXPECT_EQ(found.of(0).awaits, "a message (tag 5), which is on its way");
}
TEST(LastCalls, AMessageWithAnotherTagIsAnother) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .line("ENTER", 1, 3, "region=MPI_Send")
                            .line("MPI_SEND", 1, 3, "dlid=0 cid=0 tag=6 sent=8")
                            .line("EXIT", 1, 4, ""));
  EXPECT_EQ(found.of(0).ranks, RankNumbers{1});
}
TEST(LastCalls, ASendWithoutReceive) {
  const LastFound found(
      EndedRun(2).stands(0, 2, "MPI_Ssend", "dlid=1 tag=5").stands(1, 3, "MPI_Barrier", ""));
  EXPECT_EQ(found.of(0).awaits, "a receive of rank 1 (tag 5)");
  EXPECT_EQ(found.of(1).awaits, "MPI_Barrier of rank 0");
  EXPECT_EQ(circles_of(found), (RankCircles{{0, 1}}));  // the barrier waits for the sender
}
TEST(LastCalls, ASendAndItsReceiveAreNoDeadlock) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Ssend", "dlid=1 tag=5")
                            .stands(1, 3, "MPI_Recv", "slid=0 tag=5"));
  EXPECT_EQ(found.of(0).ranks, RankNumbers{});
  EXPECT_EQ(found.of(1).ranks, RankNumbers{});
  EXPECT_EQ(circles_of(found), RankCircles{});
}
TEST(LastCalls, ACircleOfReceivesIsADeadlock) {
  const LastFound found(EndedRun(4)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .stands(1, 2, "MPI_Recv", "slid=2 tag=5")
                            .stands(2, 3, "MPI_Recv", "slid=0 tag=5")
                            .stands(3, 1, "MPI_Recv", "slid=0 tag=5"));  // not in it
  EXPECT_EQ(circles_of(found), (RankCircles{{0, 1, 2}}));
  EXPECT_EQ(found.last.deadlocks[0].behind, RankNumbers{3});
  EXPECT_TRUE(found.last.deadlocks[0].certain);
  EXPECT_NE(found.said.find(
                "Deadlock of ranks 0-2: rank 0 is in MPI_Recv and waits for a message from rank 1 "
                "(tag 5), rank 1 is in MPI_Recv and waits for a message from rank 2 (tag 5), rank "
                "2 is in "
                "MPI_Recv and waits for a message from rank 0 (tag 5). Rank 3 waits behind it."),
            std::string::npos)
      << found.said;
}
TEST(LastCalls, WhoTakesAnyMessageIsStuckOnlyWithAllOthers) {
  const auto run = [](bool third) {
    EndedRun ended(3);
    ended.stands(0, 2, "MPI_Recv", "tag=5").stands(1, 2, "MPI_Recv", "slid=0 tag=5");
    if (third) ended.stands(2, 2, "MPI_Recv", "slid=0 tag=5");
    return LastFound(ended);
  };
  EXPECT_EQ(circles_of(run(false)), RankCircles{});  // rank 2 may still send
  EXPECT_TRUE(run(false).of(0).any);
  EXPECT_EQ(run(false).of(0).ranks, (RankNumbers{1, 2}));
  EXPECT_EQ(circles_of(run(true)), (RankCircles{{0, 1, 2}}));
}
// The receive of rank 1's message is satisfied, that of rank 2's is not; rank 3 has not received.
TEST(LastCalls, OfSeveralRequestsThoseThatNobodyMet) {
  const LastFound found(EndedRun(4)
                            .line("ENTER", 1, 1, "region=MPI_Send")
                            .line("MPI_SEND", 1, 1, "dlid=0 cid=0 tag=5 sent=8")
                            .line("EXIT", 1, 1.5, "")
                            .line("ENTER", 0, 1, "region=MPI_Isend")
                            .line("MPI_SEND", 0, 1, "dlid=3 cid=0 tag=5 sent=8")
                            .line("EXIT", 0, 1.5, "")
                            .stands(0, 2, "MPI_Waitall", "awaited=3")
                            .awaits(0, 2, 1, "1", "5")
                            .awaits(0, 2, 1, "2", "5")
                            .awaits(0, 2, 2, "3", "5"));
  EXPECT_EQ(found.of(0).awaits, "a message from rank 2 (tag 5) and a receive of rank 3");
  EXPECT_EQ(found.of(0).ranks, (RankNumbers{2, 3}));
  EXPECT_FALSE(found.of(0).any);
}
TEST(LastCalls, WhoHasNotComeToACollectiveOperation) {
  const LastFound found(EndedRun(4)
                            .stands(0, 2, "MPI_Barrier", "ordinal=7")
                            .stands(1, 3, "MPI_Barrier", "ordinal=6")  // one behind
                            .stands(2, 3, "MPI_Barrier", "ordinal=7"));
  EXPECT_EQ(found.of(0).awaits, "MPI_Barrier of ranks 1 and 3");
  EXPECT_EQ(found.of(2).ranks, (RankNumbers{1, 3}));
}
TEST(LastCalls, WhoWaitsForARootWaitsForNobodyElse) {
  const LastFound found(
      EndedRun(3).stands(0, 2, "MPI_Bcast", "dlid=1").stands(2, 2, "MPI_Bcast", "dlid=1"));
  EXPECT_EQ(found.of(0).awaits, "MPI_Bcast of rank 1, the root");
}
TEST(LastCalls, DifferentOperationsAreNamed) {
  const LastFound found(
      EndedRun(2).stands(0, 2, "MPI_Allgather", "").stands(1, 3, "MPI_Allreduce", ""));
  EXPECT_EQ(found.of(0).awaits, "MPI_Allgather of rank 1, in MPI_Allreduce instead");
  EXPECT_EQ(circles_of(found), (RankCircles{{0, 1}}));
}
// Each flushes at the next one, for 5 s: no more is missing than that the library there makes
// progress, which it does in its own call. Nor is it known who holds a lock that several have asked
// for. A lock that a flush has proven is another matter: there the one waits for the other.
TEST(LastCalls, ProcessesThatWorkAreInNoDeadlock) {
  const auto epoch = [](EndedRun& run, int origin, int target, bool proven) {
    const std::string to = std::to_string(target);
    run.line("ENTER", origin, 1, "region=MPI_Win_lock")
        .line("MPI_WIN_LOCK", origin, 1.1, "llid=" + to + " wid=0 ltype=1")
        .line("EXIT", origin, 1.1, "");
    if (!proven) return;
    run.line("ENTER", origin, 1.2, "region=MPI_Put")
        .line("MPI_PUT_1TS", origin, 1.2,
              "dlid=" + to + " wid=0 rmaid=" + std::to_string(origin) + " sent=8")
        .line("EXIT", origin, 1.3, "")
        .line("ENTER", origin, 1.3, "region=MPI_Win_flush")
        .line("MPI_WIN_FLUSH", origin, 1.4, "tlid=" + to + " wid=0 local=0")
        .line("EXIT", origin, 1.4, "");
  };
  const auto run = [&](bool proven, bool crossed) {
    EndedRun ended(2);
    for (const int origin : {0, 1}) epoch(ended, origin, crossed ? origin : 1 - origin, proven);
    for (const int origin : {0, 1}) {
      ended.stands(static_cast<unsigned>(origin), 4, crossed ? "MPI_Win_lock" : "MPI_Win_flush",
                   "cid=absent wid=0 dlid=" + std::to_string(1 - origin));
    }
    return LastFound(ended);
  };
  EXPECT_EQ(circles_of(run(false, false)), RankCircles{});
  EXPECT_EQ(circles_of(run(false, true)), RankCircles{});
  EXPECT_EQ(circles_of(run(true, false)), RankCircles{});
  EXPECT_EQ(circles_of(run(true, true)), (RankCircles{{0, 1}}));
}
// Nobody has stood in its call for 0.1 s of 9: it was ended at work.
TEST(LastCalls, AShortStayIsNoDeadlock) {
  const auto run = [](double since) {
    return LastFound(EndedRun(2)
                         .stands(0, since, "MPI_Recv", "slid=1 tag=5")
                         .stands(1, since, "MPI_Recv", "slid=0 tag=5"));
  };
  EXPECT_EQ(circles_of(run(kAllEnded - 0.05)), RankCircles{});
  EXPECT_NE(run(kAllEnded - 0.05).said.find("The run was ended while it worked."),
            std::string::npos);
  EXPECT_EQ(circles_of(run(kAllEnded - 0.2)), (RankCircles{{0, 1}}));
}
// Another thread of a process that was granted MPI_THREAD_MULTIPLE may send; it need not have
// called MPI yet.
TEST(LastCalls, AnotherThreadMayEndACircle) {
  const auto run = [](const char* level) {
    const std::string property =
        std::string("RUN_PROPERTY key=\"mpi.threads\" value=\"") + level + "\" pid=1\n";
    return LastFound(property + EndedRun(2)
                                    .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                                    .stands(1, 2, "MPI_Recv", "slid=0 tag=5")
                                    .text());
  };
  EXPECT_TRUE(run("serialized").last.deadlocks.at(0).certain);
  const LastFound unsure = run("multiple");
  EXPECT_FALSE(unsure.last.deadlocks.at(0).certain);
  EXPECT_NE(unsure.said.find("unless another of their threads calls MPI"), std::string::npos);
}
// Rank 1 was over 3 s before the others: who waits for it waits in no circle, though it stood in a
// call, too.
TEST(LastCalls, AProcessThatEndedBeforeIsInNoCircle) {
  std::string text = EndedRun(3)
                         .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                         .stands(1, 2, "MPI_Recv", "slid=0 tag=5")
                         .stands(2, 3, "MPI_Recv", "slid=0 tag=5")
                         .text();
  const std::string end = "PROCESS_ENDED lid=1 time=9";
  text.replace(text.find(end), end.size(), "PROCESS_ENDED lid=1 time=6");
  const LastFound found(text);
  EXPECT_EQ(circles_of(found), RankCircles{});
  EXPECT_NE(found.said.find("No deadlock: rank 1 ended at 6.000 s in MPI_Recv, which did not "
                            "return; ranks 0 and 2 wait for it."),
            std::string::npos)
      << found.said;
  EXPECT_NE(found.said.find("rank 1 ended in MPI_Recv at 6.000 s, which did not return, and waits "
                            "for a message from rank 0 (tag 5)."),
            std::string::npos)
      << found.said;
}
// Rank 1 had come to its receive 4 ms before it ended, 5 ms before the others: its message was
// there, so the receive may have failed.
TEST(LastCalls, WhoEndedFirstInACallMayHaveFailedThere) {
  const auto run = [](const char* end) {
    std::string text = EndedRun(3)
                           .line("ENTER", 0, 1, "region=MPI_Send")
                           .line("MPI_SEND", 0, 1, "dlid=1 cid=0 tag=5 sent=8")
                           .line("EXIT", 0, 1.5, "")
                           .stands(0, 2, "MPI_Recv", "slid=1 tag=6")
                           .stands(2, 3, "MPI_Recv", "slid=0 tag=5")
                           .stands(1, 8.991, "MPI_Recv", "slid=0 tag=5")
                           .text();
    const std::string all = "PROCESS_ENDED lid=1 time=9.000000";
    text.replace(text.find(all), all.size(), std::string("PROCESS_ENDED lid=1 time=") + end);
    return LastFound(text);
  };
  EXPECT_NE(
      run("8.995").said.find(
          "ended No deadlock: rank 1 ended first, at 8.995 s in MPI_Recv, which did not "
          "return (MPI, or its error handler, may have ended it); ranks 0 and 2 wait for it."),
      std::string::npos)
      << run("8.995").said;
  EXPECT_NE(run("8.995").said.find("rank 1 ended in MPI_Recv at 8.995 s, which did not return, and "
                                   "waits for a message (tag 5), which is on its way."),
            std::string::npos);
  EXPECT_NE(run("8.9995").said.find("The run was ended while it worked."), std::string::npos);
}

// The time of calls that did not return is waiting, for whom the notes name: of ranks 0 and 1 for
// each other's messages from 2 s to 9 s, of rank 2 in the barrier behind them from 3 s on. The
// deadlock is the cause of all of it, and nothing is unexplained.
TEST(LastCalls, TheTimeOfADeadlockIsWaiting) {
  const auto made = text_to_trace(EndedRun(3)
                                      .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                                      .stands(1, 2, "MPI_Recv", "slid=0 tag=5")
                                      .stands(2, 3, "MPI_Barrier", "")
                                      .text(),
                                  "text");
  auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
  AnalysisOptions options;
  options.root_causes = true;
  const Report report = analyse(*trace, options);
  const auto total = [&](const char* metric) { return report.total(report.find_metric(metric)); };
  EXPECT_NEAR(total("mpi_latesender"), 7 + 7, 1e-9);
  EXPECT_NEAR(total("mpi_barrier_wait"), 6, 1e-9);
  EXPECT_NEAR(total("mpi_unexplained"), 0, 1e-9);
  const RootCauses& causes = *report.root_causes();
  EXPECT_NEAR(causes.waits, 20, 1e-9);
  EXPECT_NEAR(causes.causes.at(0).seconds, 20, 1e-9);
  EXPECT_EQ(cause_words(report, causes.causes[0]), "the deadlock of ranks 0 and 1");
  EXPECT_EQ(effect_words(report, causes.causes[0]),
            "they and rank 2 behind it wait 20.000 s until the run was ended (Late Sender 14.000 "
            "s, Wait at Barrier "
            "6.000 s)");
}
// Where one computes, the others wait for that: from 2 s and 3 s to the end at 9 s, rank 2 behind
// rank 1.
TEST(LastCalls, TheTimeOfAHangIsWaitingForWhoComputes) {
  const auto made = text_to_trace(EndedRun(3)
                                      .line("ENTER", 0, 1, "region=solve")
                                      .stands(1, 2, "MPI_Recv", "slid=0 tag=5")
                                      .stands(2, 3, "MPI_Recv", "slid=1 tag=5")
                                      .text(),
                                  "text");
  auto trace = earl::Trace::from(memory_source(made->data(), made->size()), "text");
  AnalysisOptions options;
  options.root_causes = true;
  const Report report = analyse(*trace, options);
  EXPECT_NEAR(report.total(report.find_metric("mpi_latesender")), 7 + 6, 1e-9);
  const RootCauses& causes = *report.root_causes();
  EXPECT_NEAR(causes.waits, 13, 1e-9);
  ASSERT_FALSE(causes.causes.empty());
  EXPECT_EQ(causes.causes[0].location, 0u);
  EXPECT_EQ(causes.causes[0].stretch.kind, Stretch::Kind::kComputing);
  EXPECT_NEAR(causes.causes[0].seconds + causes.unexplained, 13, 0.5);
}

// Rank 1 holds the lock of rank 2 exclusively; rank 0 wants it.
TEST(LastCalls, WhoHoldsALock) {
  const std::string window = "cid=absent wid=0 dlid=2";
  const auto held = [](const char* kind) {
    EndedRun run(3);
    return run.line("ENTER", 1, 1, "region=MPI_Win_lock")
        .line("MPI_WIN_LOCK", 1, 1.5, std::string("llid=2 wid=0 ltype=") + kind)
        .line("EXIT", 1, 1.5, "");
  };
  const LastFound exclusive(held("1").stands(0, 2, "MPI_Win_lock", window));
  EXPECT_EQ(exclusive.of(0).awaits, "MPI_Win_unlock of rank 1, with the lock at rank 2");
  EXPECT_EQ(exclusive.of(0).ranks, RankNumbers{1});
  // A shared lock is in nobody's way who asks for the same: then it is the target.
  const LastFound shared(held("0").stands(0, 2, "MPI_Win_lock_all", "cid=absent wid=0"));
  EXPECT_EQ(shared.of(0).ranks, RankNumbers{});
  const LastFound free(EndedRun(3).stands(0, 2, "MPI_Win_lock", window));
  EXPECT_EQ(free.of(0).awaits, "progress at rank 2, its target");
}
TEST(LastCalls, PostsAndCompletes) {
  const std::string window = "cid=absent wid=0";
  EndedRun run(3);
  run.line("ENTER", 1, 1, "region=MPI_Win_post")
      .line("MPI_WINEXIT", 1, 1.5, "wid=0 group=[0] synex=0");
  // Rank 1 has posted, rank 2 has not.
  run.stands(0, 2, "MPI_Win_start", window + " awaited=2")
      .awaits(0, 2, 6, "1")
      .awaits(0, 2, 6, "2");
  run.stands(1, 3, "MPI_Win_wait", window);
  const LastFound found(run);
  EXPECT_EQ(found.of(0).awaits, "MPI_Win_post of rank 2");
  EXPECT_EQ(found.of(1).awaits, "MPI_Win_complete of rank 0");
}
TEST(LastCalls, AProcessThatReturnedFromItsCallStandsElsewhere) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .line("EXIT", 0, 3, "")  // left by longjmp
                            .line("ENTER", 0, 4, "region=solve"));
  EXPECT_EQ(found.of(0).function, nullptr);
  EXPECT_EQ(found.of(0).since.value, 4);
}
TEST(LastCalls, OfARunThatEndedWellThereAreNone) {
  const LastFound found(
      "ENTER lid=0 time=0 region=main\nENTER lid=0 time=1 region=MPI_Barrier\n"
      "EXIT lid=0 time=2\nEXIT lid=0 time=3\n");
  EXPECT_TRUE(found.last.empty());
  EXPECT_EQ(found.said, "");
}
// exit() within a call closes all regions at once.
TEST(LastCalls, WhoCalledExitWithinACallStoodInIt) {
  const LastFound found(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Recv\n"
      "MPI_OPEN_CALL lid=0 time=1 cid=0 wid=absent dlid=absent slid=1 tag=5 ordinal=0 awaited=0\n"
      "EXIT lid=0 time=4\nEXIT lid=0 time=4\nEXIT lid=1 time=5\n");
  ASSERT_EQ(found.last.calls.size(), 1u);
  EXPECT_EQ(found.of(0).until.value, 4);
  EXPECT_EQ(found.of(0).awaits, "a message from rank 1 (tag 5)");
}

// ---- transfers, and calls that begin something

TEST(LastCalls, ATransferWaitsForThePostOfItsTarget) {
  EndedRun run(3);
  run.line("ENTER", 0, 1, "region=MPI_Win_start")
      .line("MPI_WINEXIT", 0, 1.5, "wid=0 group=[1,2] synex=0");
  run.line("ENTER", 1, 1, "region=MPI_Win_post")
      .line("MPI_WINEXIT", 1, 1.5, "wid=0 group=[0] synex=0");
  EndedRun same = run;
  // Rank 1 has posted, rank 2 has not. To rank 2; and to rank 1, where a put may wait for all
  // posts.
  const LastFound missing(run.stands(0, 2, "MPI_Put", "cid=absent wid=0 dlid=2"));
  EXPECT_EQ(missing.of(0).awaits, "MPI_Win_post of rank 2");
  EXPECT_EQ(missing.of(0).ranks, RankNumbers{2});
  EXPECT_NE(missing.said.find("rank 0 has been in MPI_Put for "), std::string::npos);
  const LastFound other(same.stands(0, 2, "MPI_Get", "cid=absent wid=0 dlid=1"));
  EXPECT_EQ(other.of(0).awaits, "MPI_Win_post of rank 2");
}
TEST(LastCalls, ATransferWaitsForWhoHoldsTheLock) {
  const auto locked = [](EndedRun run, int origin) {
    return run.line("ENTER", origin, 1 + 0.1 * origin, "region=MPI_Win_lock")
        .line("MPI_WIN_LOCK", origin, 1.5, "llid=2 wid=0 ltype=1")
        .line("EXIT", origin, 1.5, "");
  };
  const std::string put = "cid=absent wid=0 dlid=2";
  const LastFound two(locked(locked(EndedRun(3), 0), 1).stands(0, 2, "MPI_Fetch_and_op", put));
  EXPECT_EQ(two.of(0).awaits, "MPI_Win_unlock of rank 1, with the lock at rank 2");
  const LastFound alone(locked(EndedRun(3), 0).stands(0, 2, "MPI_Put", put));
  EXPECT_EQ(alone.of(0).awaits, "progress at rank 2, its target");
  EXPECT_EQ(alone.of(0).ranks, RankNumbers{2});
  // A transfer to itself waits for nobody.
  const LastFound own(EndedRun(2).stands(0, 2, "MPI_Put", "cid=absent wid=0 dlid=0"));
  EXPECT_EQ(own.of(0).ranks, RankNumbers{});
}
TEST(LastCalls, ATransferWaitsForTheFenceOfItsTarget) {
  // Ranks 0 and 1 have left the first fence, rank 2 has not come to it.
  const auto fenced = [] {
    EndedRun run(3);
    for (const unsigned rank : {0u, 1u}) {
      run.line("ENTER", rank, 1, "region=MPI_Win_fence")
          .line("MPI_WINCOLLEXIT", rank, 1.5, "wid=0");
    }
    return run;
  };
  const LastFound late(fenced().stands(0, 2, "MPI_Put", "cid=absent wid=0 dlid=2 ordinal=1"));
  EXPECT_EQ(late.of(0).awaits, "MPI_Win_fence of rank 2");
  const LastFound there(fenced().stands(0, 2, "MPI_Put", "cid=absent wid=0 dlid=1 ordinal=1"));
  EXPECT_EQ(there.of(0).awaits, "progress at rank 1, its target");
}
TEST(LastCalls, CallsThatBeginSomethingSayWhomItHasToDoWith) {
  const LastFound send(EndedRun(3).stands(0, 2, "MPI_Isend", "dlid=1 tag=4"));
  EXPECT_EQ(send.of(0).awaits, "progress at rank 1, to which it sends");
  EXPECT_EQ(send.of(0).ranks, RankNumbers{1});
  const LastFound begun(EndedRun(3).stands(0, 2, "MPI_Ibcast", "dlid=1"));
  EXPECT_EQ(begun.of(0).awaits, "progress of the operation that it begins with ranks 1 and 2");
  EXPECT_EQ(begun.of(0).ranks, RankNumbers{});  // which of them is not known: no deadlock
  const LastFound start(EndedRun(3)
                            .stands(0, 2, "MPI_Startall", "cid=absent awaited=2")
                            .awaits(0, 2, 2, "1")
                            .awaits(0, 2, 1, "2"));
  EXPECT_EQ(start.of(0).awaits, "progress at rank 1, to which it sends");  // a receive needs nobody
  EXPECT_NE(start.of(0).function, nullptr);
}
// A message on its way by MPI_Isend is no missing one.
TEST(LastCalls, WhatABegunSendSendsIsOnItsWay) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                            .stands(1, 3, "MPI_Isend", "dlid=0 tag=5"));
  EXPECT_EQ(found.of(0).awaits, "a message (tag 5), which is on its way");
}
TEST(LastCalls, PartitionedMessagesNameTheirPartner) {
  const auto waits = [](int kind) {
    return LastFound(
        EndedRun(2).stands(0, 2, "MPI_Wait", "cid=absent awaited=1").awaits(0, 2, kind, "1"));
  };
  const LastFound given = waits(7), taken = waits(8), kept = waits(9);
  EXPECT_EQ(given.of(0).awaits, "all parts of a message from rank 1");
  EXPECT_EQ(given.of(0).ranks, RankNumbers{1});
  EXPECT_EQ(taken.of(0).awaits, "rank 1 to receive all parts of its message");
  EXPECT_EQ(taken.of(0).ranks, RankNumbers{1});
  EXPECT_EQ(kept.of(0).awaits, "its own MPI_Pready for a message to rank 1");
  EXPECT_EQ(kept.of(0).ranks, RankNumbers{0});  // itself
  EXPECT_EQ(circles_of(kept), RankCircles{{0}});
  EXPECT_NE(kept.said.find("Deadlock of rank 0: rank 0 is in MPI_Wait and waits for its own "
                           "MPI_Pready for a message to rank 1."),
            std::string::npos)
      << kept.said;
}
// The second file of the communicator (its sequence 5 above 40 bits), its third call; rank 2 is in
// that call of another file.
TEST(LastCalls, CallsOfAFileNameWhoHasNotCome) {
  const auto number = [](std::uint64_t file, std::uint64_t call) {
    return "ordinal=" + std::to_string(file << 40 | call);
  };
  const LastFound found(EndedRun(4)
                            .stands(0, 2, "MPI_File_write_all", number(5, 2))
                            .stands(1, 2.5, "MPI_File_write_all", number(5, 2))
                            .stands(2, 3, "MPI_File_write_all", number(4, 2)));
  EXPECT_EQ(found.of(0).awaits, "MPI_File_write_all of ranks 2 and 3");
  EXPECT_EQ(found.of(2).ranks, (RankNumbers{0, 1, 3}));
  // One that has left it has been there.
  const LastFound left(EndedRun(2)
                           .stands(0, 2, "MPI_File_close", number(5, 2))
                           .line("ENTER", 1, 1, "region=MPI_File_close")
                           .line("MPI_GROUP_CALL", 1, 1.5, "cid=0 key=5 ordinal=2")
                           .line("EXIT", 1, 1.5, ""));
  EXPECT_EQ(left.of(0).ranks, RankNumbers{});
}

// ---- many open things

// Whether one fits, by looking at each.
bool any_of(const std::vector<Envelope>& all, std::uint32_t destination,
            std::optional<std::uint32_t> source, std::optional<CommId> com,
            std::optional<Tag> tag) {
  return std::any_of(all.begin(), all.end(), [&](const Envelope& e) {
    return e.destination == destination &&
           (!source || e.source == *source || e.source == kAbsent) && (!com || e.com == *com) &&
           (!tag || e.tag == *tag || is_absent(e.tag));
  });
}
TEST(Envelopes, AreFoundByWhatIsKnown) {
  std::minstd_rand random;
  // Half of what is drawn from below 3 is there; 3 is what fits all, or is open.
  const auto draw = [&](bool open) {
    return static_cast<std::uint32_t>(random() % (open ? 4 : 3));
  };
  const auto field = [](std::uint32_t drawn) { return drawn == 3 ? kAbsent : drawn; };
  for (int run = 0; run < 200; ++run) {
    std::vector<Envelope> all;
    Envelopes envelopes;
    for (int i = 0; i < run % 12; ++i) {
      all.push_back({field(draw(true)), draw(false), CommId{draw(false)}, Tag{field(draw(true))}});
      envelopes.add(all.back());
    }
    envelopes.seal();
    for (int i = 0; i < 30; ++i) {
      const std::uint32_t destination = draw(false), s = draw(true), c = draw(true), t = draw(true);
      const auto source = s == 3 ? std::nullopt : std::optional(s);
      const auto com = c == 3 ? std::nullopt : std::optional(CommId{c});
      const auto tag = t == 3 ? std::nullopt : std::optional(Tag{t});
      ASSERT_EQ(envelopes.any(destination, source, com, tag),
                any_of(all, destination, source, com, tag))
          << destination << ' ' << s << ' ' << c << ' ' << t;
    }
  }
}
// Both requests wait for rank 1: none of them is ready, as a second one for the same rank once was.
TEST(LastCalls, SeveralRequestsForOneRankAreNotReady) {
  const LastFound found(EndedRun(2)
                            .stands(0, 2, "MPI_Waitany", "awaited=2")
                            .awaits(0, 2, 1, "1", "5")
                            .awaits(0, 2, 1, "1", "6"));
  EXPECT_EQ(found.of(0).awaits, "a message from rank 1 (tag 5)");
  EXPECT_EQ(found.of(0).ranks, RankNumbers{1});
}
// Requests that were not noted one by one are those that are open: to rank 1 two messages, of which
// it takes one in its own open receives, whatever the tag; rank 2 has sent what is taken.
TEST(LastCalls, OfManyRequestsWhatIsOpen) {
  EndedRun run(3);
  run.line("ENTER", 0, 1, "region=MPI_Isend");
  for (const char* tag : {"4", "6"}) {
    run.line("MPI_SEND", 0, 1, std::string("dlid=1 cid=0 sent=8 tag=") + tag);
  }
  run.line("EXIT", 0, 1.5, "");
  run.line("ENTER", 1, 1, "region=MPI_Irecv");
  for (const char* tag : {"5", "7"}) {
    run.line("MPI_RECV_REQUEST", 1, 1, std::string("reqid=0 slid=0 cid=0 tag=") + tag);
  }
  run.line("EXIT", 1, 1.5, "");
  run.stands(0, 2, "MPI_Waitall", "awaited=300").stands(1, 2, "MPI_Waitall", "awaited=300");
  const LastFound found(run);
  EXPECT_EQ(found.of(0).awaits, "a receive of rank 1");
  EXPECT_EQ(found.of(1).awaits, "a message from rank 0 (tag 5)");
  EXPECT_EQ(circles_of(found), (RankCircles{{0, 1}}));
}
// Each waits for the next one, and the last is free: nobody is stuck, in whichever order they are
// looked at. Two circles that meet in nobody are two.
TEST(LastCalls, ChainsAndSeveralCircles) {
  constexpr unsigned kLong = 50;
  EndedRun chain(kLong);
  for (unsigned r = 0; r + 1 < kLong; ++r) {
    chain.stands(r, 2, "MPI_Recv", "tag=5 slid=" + std::to_string(r + 1));
  }
  EXPECT_EQ(circles_of(LastFound(chain)), RankCircles{});
  EndedRun two(6);
  for (const auto& [rank, source] :
       std::map<unsigned, unsigned>{{0, 3}, {1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 0}}) {
    two.stands(rank, 2, "MPI_Recv", "tag=5 slid=" + std::to_string(source));
  }
  EXPECT_EQ(circles_of(LastFound(two)), (RankCircles{{1, 2}, {3, 4}}));
}
// The newest lock of its own says whether it is in the others' way; that of another window does
// not.
TEST(LastCalls, LocksOfSeveralWindowsAndTargets) {
  EndedRun run(4);
  const auto lock = [&](unsigned rank, double time, const char* what) {
    run.line("ENTER", rank, time, "region=MPI_Win_lock")
        .line("MPI_WIN_LOCK", rank, time, what)
        .line("EXIT", rank, time, "");
  };
  lock(1, 1.0, "llid=2 wid=0 ltype=0");
  lock(1, 1.1, "llid=3 wid=0 ltype=1");
  lock(2, 1.2, "llid=2 wid=1 ltype=1");
  run.stands(0, 3, "MPI_Win_lock", "cid=absent wid=0 dlid=2");
  run.stands(3, 3, "MPI_Win_flush_all", "cid=absent wid=0");
  const LastFound found(run);
  EXPECT_EQ(found.of(0).awaits, "MPI_Win_unlock of rank 1, with the lock at rank 2");
  EXPECT_EQ(found.of(3).awaits, "MPI_Win_unlock of rank 1, with the lock");
}

// Forty windows: of each rank 1 takes the lock at rank 2, and gives every second one back. What is
// open of so many is found by an index (earl/many_open.h); a few are left at the end.
TEST(LastCalls, LocksOfManyWindows) {
  constexpr unsigned kWindows = 40;
  const auto at = [](const char* what, unsigned window) {
    return what + (" wid=" + std::to_string(window));
  };
  for (const unsigned asked : {6u, 7u, 38u, 39u}) {
    EndedRun run(3);
    for (unsigned w = 0; w < kWindows; ++w) {
      run.line("ENTER", 1, 1 + 0.01 * w, "region=MPI_Win_lock")
          .line("MPI_WIN_LOCK", 1, 1 + 0.01 * w, at("llid=2 ltype=1", w))
          .line("EXIT", 1, 1 + 0.01 * w, "");
    }
    for (unsigned w = 1; w < kWindows; w += 2) {
      run.line("ENTER", 1, 2 + 0.01 * w, "region=MPI_Win_unlock")
          .line("MPI_WIN_UNLOCK", 1, 2 + 0.01 * w, at("llid=2", w))
          .line("EXIT", 1, 2 + 0.01 * w, "");
    }
    run.stands(0, 3, "MPI_Win_lock", at("cid=absent dlid=2", asked));
    const LastFound found(run);
    EXPECT_EQ(found.of(0).awaits, asked % 2 == 0
                                      ? "MPI_Win_unlock of rank 1, with the lock at rank 2"
                                      : "progress at rank 2, its target");
  }
}
// Of forty windows rank 1 posts and rank 0 starts; of every second one the access is completed.
// Of fences rank 0 has left one on each window, and rank 1 comes to none.
TEST(LastCalls, EpochsAndFencesOfManyWindows) {
  constexpr unsigned kWindows = 40;
  const auto of = [](unsigned window) { return "wid=" + std::to_string(window); };
  for (const unsigned asked : {5u, 6u, 39u}) {
    EndedRun run(2);
    for (unsigned w = 0; w < kWindows; ++w) {
      const double time = 1 + 0.01 * w;
      run.line("ENTER", 1, time, "region=MPI_Win_post")
          .line("MPI_WINEXIT", 1, time, of(w) + " group=[0] synex=0");
      run.line("ENTER", 0, time, "region=MPI_Win_start")
          .line("MPI_WINEXIT", 0, time, of(w) + " group=[1] synex=0");
    }
    for (unsigned w = 1; w < kWindows; w += 2) {
      run.line("ENTER", 0, 2 + 0.01 * w, "region=MPI_Win_complete")
          .line("MPI_WINEXIT", 0, 2 + 0.01 * w, of(w) + " group=[1] synex=1");
    }
    run.stands(1, 3, "MPI_Win_wait", "cid=absent " + of(asked));
    EXPECT_EQ(LastFound(run).of(1).awaits, asked % 2 == 0 ? "MPI_Win_complete of rank 0" : "");
    EndedRun fences(2);
    for (unsigned w = 0; w < kWindows; ++w) {
      fences.line("ENTER", 0, 1 + 0.01 * w, "region=MPI_Win_fence")
          .line("MPI_WINCOLLEXIT", 0, 1 + 0.01 * w, of(w));
    }
    fences.stands(0, 3, "MPI_Put", "cid=absent dlid=1 ordinal=1 " + of(asked));
    EXPECT_EQ(LastFound(fences).of(0).awaits, "MPI_Win_fence of rank 1");
  }
}

}  // namespace
}  // namespace kojak::expert
