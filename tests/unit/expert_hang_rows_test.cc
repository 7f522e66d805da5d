// "Deadlock" is said where two processes wait for each other, and of the same calls not where the
// other one goes on: every kind of call that can wait, with a partner that waits for the caller,
// with one that computes, and with one that was not recorded or belongs to another world.
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/expert_ended_run.h"

namespace kojak::expert {
namespace {

// Rank 0 stands in that call, of rank 1.
struct HangRow {
  const char* name;
  std::function<void(EndedRun&)> waits;
  // What rank 1 stands in that needs rank 0.
  const char* partner = "MPI_Recv";
  const char* note = "slid=0 tag=99";
};

constexpr const char* kOfWindow = "cid=absent wid=0";

std::function<void(EndedRun&)> in(const char* function, const std::string& note) {
  return [=](EndedRun& run) { run.stands(0, 2, function, note); };
}
std::function<void(EndedRun&)> waiting(const char* function, int kind) {
  return [=](EndedRun& run) {
    if (kind == 2) {
      run.line("ENTER", 0, 1, "region=MPI_Isend")
          .line("MPI_SEND", 0, 1, "dlid=1 cid=0 tag=5 sent=8")
          .line("EXIT", 0, 1.5, "");
    }
    run.stands(0, 2, function, "cid=absent awaited=1").awaits(0, 2, kind, "1", "5");
  };
}
void began_collective(EndedRun& run) {
  run.line("ENTER", 0, 1, "region=MPI_Ibarrier")
      .line("MPI_COLL_BEGIN", 0, 1.1, "reqid=0 key=0 ordinal=0 op=1")
      .line("EXIT", 0, 1.5, "")
      .stands(0, 2, "MPI_Wait", "cid=absent awaited=1")
      .awaits(0, 2, 3, "absent");
}
void started(EndedRun& run) {
  run.line("ENTER", 0, 1, "region=MPI_Win_start")
      .line("MPI_WINEXIT", 0, 1.5, "wid=0 group=[1] synex=0");
}
void posted(EndedRun& run) {
  run.line("ENTER", 0, 1, "region=MPI_Win_post")
      .line("MPI_WINEXIT", 0, 1.5, "wid=0 group=[1] synex=0")
      .stands(0, 2, "MPI_Win_wait", kOfWindow);
}
// Rank 1 holds its own lock: a flush has come back.
void held(EndedRun& run) {
  run.line("ENTER", 1, 1, "region=MPI_Win_lock")
      .line("MPI_WIN_LOCK", 1, 1.1, "llid=1 wid=0 ltype=1")
      .line("EXIT", 1, 1.1, "")
      .line("ENTER", 1, 1.2, "region=MPI_Put")
      .line("MPI_PUT_1TS", 1, 1.2, "dlid=1 wid=0 rmaid=1 sent=8")
      .line("EXIT", 1, 1.3, "")
      .line("ENTER", 1, 1.3, "region=MPI_Win_flush")
      .line("MPI_WIN_FLUSH", 1, 1.4, "tlid=1 wid=0 local=0")
      .line("EXIT", 1, 1.4, "");
}
void held_by_shmem(EndedRun& run) {
  run.line("ENTER", 1, 1, "region=shmem_set_lock")
      .line("ALOCK", 1, 1.4, "lkid=3 glid=0")
      .line("EXIT", 1, 1.4, "")
      .stands(0, 2, "shmem_set_lock", "cid=absent ordinal=3");
}

const std::vector<HangRow>& rows() {
  static const std::vector<HangRow> all{
      {"receive", in("MPI_Recv", "slid=1 tag=5")},
      {"probe", in("MPI_Probe", "slid=1 tag=5")},
      {"mprobe", in("MPI_Mprobe", "slid=1 tag=5")},
      {"any source", in("MPI_Recv", "tag=5")},
      {"ssend", in("MPI_Ssend", "dlid=1 tag=5")},
      {"rsend", in("MPI_Rsend", "dlid=1 tag=5")},
      {"send", in("MPI_Send", "dlid=1 tag=5")},
      {"sendrecv", in("MPI_Sendrecv", "dlid=1 slid=1 tag=5"), "MPI_Ssend", "dlid=0 tag=98"},
      {"wait for a receive", waiting("MPI_Wait", 1)},
      {"wait for a send", waiting("MPI_Waitall", 2)},
      {"waitany", waiting("MPI_Waitany", 1)},
      {"wait for a collective", began_collective},
      {"parts to receive", waiting("MPI_Wait", 7)},
      {"parts sent", waiting("MPI_Wait", 8)},
      {"barrier", in("MPI_Barrier", "")},
      {"all to all", in("MPI_Allreduce", "")},
      {"not the root of a broadcast", in("MPI_Bcast", "dlid=1")},
      {"the root of a broadcast", in("MPI_Bcast", "dlid=0")},
      {"the root of a reduction", in("MPI_Reduce", "dlid=0")},
      {"not the root of a reduction", in("MPI_Gather", "dlid=1")},
      {"scan", in("MPI_Scan", "")},
      {"communicator", in("MPI_Comm_dup", "")},
      {"window", in("MPI_Win_create", "")},
      {"file", in("MPI_File_open", "")},
      {"free", in("MPI_Win_free", kOfWindow)},
      {"fence", in("MPI_Win_fence", kOfWindow)},
      {"finalize", in("MPI_Finalize", "")},
      {"start",
       [](EndedRun& run) {
         run.stands(0, 2, "MPI_Win_start", "cid=absent wid=0 awaited=1").awaits(0, 2, 6, "1");
       }},
      {"complete",
       [](EndedRun& run) {
         started(run);
         run.stands(0, 2, "MPI_Win_complete", kOfWindow);
       }},
      {"transfer in an epoch",
       [](EndedRun& run) {
         started(run);
         run.stands(0, 2, "MPI_Put", "cid=absent wid=0 dlid=1");
       }},
      {"win_wait", posted},
      {"lock",
       [](EndedRun& run) {
         held(run);
         run.stands(0, 2, "MPI_Win_lock", "cid=absent wid=0 dlid=1");
       }},
      {"wait_until", in("shmem_long_wait_until", "cid=absent"), "shmem_barrier_all", "ordinal=7"},
      {"shmem barrier", in("shmem_barrier_all", "ordinal=6"), "shmem_long_wait_until",
       "cid=absent"},
      {"set_lock", held_by_shmem, "shmem_barrier_all", "ordinal=7"},
  };
  return all;
}

TEST(HangRows, TwoThatWaitForEachOtherAreADeadlock) {
  for (const HangRow& row : rows()) {
    EndedRun run(2);
    row.waits(run);
    run.stands(1, 3, row.partner, row.note);
    const LastFound found(run);
    EXPECT_EQ(circles_of(found), (RankCircles{{0, 1}})) << row.name << ": " << found.said;
  }
}
TEST(HangRows, WhoWaitsForOneThatComputesIsInNone) {
  for (const HangRow& row : rows()) {
    EndedRun run(2);
    row.waits(run);
    const LastFound found(run);
    EXPECT_EQ(circles_of(found), RankCircles{}) << row.name;
    EXPECT_EQ(found.said.find("Deadlock"), std::string::npos) << row.name << ": " << found.said;
    EXPECT_NE(found.said.find("No deadlock: rank 1 has computed since "), std::string::npos)
        << row.name << ": " << found.said;
    EXPECT_NE(found.said.find("; rank 0 waits for it."), std::string::npos)
        << row.name << ": " << found.said;
  }
}
// What rank 1 did between 0.2 s and 0.8 s may have ended the wait.
TEST(HangRows, WhereRecordingWasOffNoneIsSure) {
  for (const HangRow& row : rows()) {
    EndedRun run(2);
    run.line("LOG_OFF", 1, 0.2, "").line("LOG_ON", 1, 0.8, "");
    row.waits(run);
    run.stands(1, 3, row.partner, row.note);
    const LastFound found(run);
    EXPECT_EQ(circles_of(found), RankCircles{}) << row.name;
    EXPECT_NE(found.said.find("ended Ranks 0 and 1 wait for each other as far as is recorded, but "
                              "not all is of rank 1 (recording was off)."),
              std::string::npos)
        << row.name << ": " << found.said;
  }
}
TEST(HangRows, WhereGroupsOfCallsWereLeftOutNoneIsSure) {
  for (const HangRow& row : rows()) {
    EndedRun run(2);
    row.waits(run);
    const LastFound alone("FUNCTIONS_OFF pid=1 groups=1\n" + run.text());
    EXPECT_NE(alone.said.find("ended What rank 1 did was not recorded (groups of calls were left "
                              "out); rank 0 waits for it."),
              std::string::npos)
        << row.name << ": " << alone.said;
    run.stands(1, 3, row.partner, row.note);
    const LastFound found("FUNCTIONS_OFF pid=1 groups=1\n" + run.text());
    EXPECT_EQ(circles_of(found), RankCircles{}) << row.name;
    EXPECT_NE(found.said.find("not all is of rank 1 (groups of calls were left out)."),
              std::string::npos)
        << row.name << ": " << found.said;
  }
}
// The communicator has members that are of another world: of what they do nothing is known.
TEST(HangRows, WithAnotherWorldNobodyIsSure) {
  const std::string foreign =
      "MPI_GROUP gid=0 mode=1 count=2\nMPI_COMM_REF cid=0 gid=0\n"
      "COMM_IDENTITY cid=0 hi=1 lo=1 flags=4\n";
  const auto run = [&](const char* function, const char* note) {
    return LastFound(
        foreign +
        EndedRun(2).stands(0, 2, function, note).stands(1, 3, "MPI_Recv", "slid=0 tag=99").text());
  };
  for (const char* function : {"MPI_Barrier", "MPI_Allreduce", "MPI_Comm_dup", "MPI_Finalize"}) {
    EXPECT_EQ(circles_of(run(function, "")), RankCircles{}) << function;
  }
  // From that rank it is a message of this world, from any it need not be.
  EXPECT_EQ(circles_of(run("MPI_Recv", "slid=1 tag=5")), (RankCircles{{0, 1}}));
  const LastFound any = run("MPI_Recv", "tag=5");
  EXPECT_EQ(circles_of(any), RankCircles{});
  EXPECT_EQ(any.of(0).awaits, "a message from any process, also of another world (tag 5)");
  EXPECT_EQ(run("MPI_Ssend", "tag=5").of(0).awaits, "a receive of a process of another world");
}
// Only the other group can send on an intercommunicator: ranks 2 and 3 to rank 0.
TEST(HangRows, OnAnIntercommunicatorTheOtherGroupSends) {
  const std::string two =
      "MPI_GROUP gid=0 ranks=[0,1]\nMPI_GROUP gid=1 ranks=[2,3]\n"
      "MPI_COMM_REF cid=0 gid=0\nCOMM_REMOTE cid=0 gid=1\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=2\n";
  const LastFound found(two + EndedRun(4)
                                  .stands(0, 2, "MPI_Recv", "tag=5")
                                  .stands(2, 2, "MPI_Recv", "slid=0 tag=5")
                                  .stands(3, 2, "MPI_Recv", "slid=0 tag=5")
                                  .text());
  EXPECT_EQ(found.of(0).ranks, (RankNumbers{2, 3}));
  EXPECT_EQ(circles_of(found), (RankCircles{{0, 2, 3}}));  // rank 1 computes
}
// A process of which there is no trace may do anything.
TEST(HangRows, OfAProcessWithoutATraceNothingIsKnown) {
  const std::string three = "MPI_GROUP gid=0 mode=1 count=3\nMPI_COMM_REF cid=0 gid=0\n";
  const LastFound found(
      three +
      EndedRun(2).stands(0, 2, "MPI_Recv", "slid=2 tag=5").stands(1, 2, "MPI_Barrier", "").text());
  EXPECT_EQ(circles_of(found), RankCircles{});
  EXPECT_NE(found.said.find("ended Of rank 2 there is no trace; ranks 0 and 1 wait for it."),
            std::string::npos)
      << found.said;
}
// The trace of rank 1 ends in the midst of its records.
TEST(HangRows, WhereATraceWasCutNothingIsKnown) {
  std::string text = EndedRun(2)
                         .stands(0, 2, "MPI_Recv", "slid=1 tag=5")
                         .line("ENTER", 1, 3, "region=solve")
                         .text();
  text.erase(text.find("PROCESS_ENDED lid=1"));
  const LastFound found(text);
  EXPECT_NE(found.said.find("ended What rank 1 did was not recorded (its trace ends early); rank 0 "
                            "waits for it."),
            std::string::npos)
      << found.said;
}
// What only needs that a target makes progress is in no circle, nor a lock that was only asked for.
TEST(HangRows, ProgressIsInNoCircle) {
  for (const char* function :
       {"MPI_Win_flush", "MPI_Win_unlock", "MPI_Put", "MPI_Rget", "MPI_Isend"}) {
    const LastFound found(EndedRun(2)
                              .stands(0, 2, function, "cid=0 wid=0 dlid=1")
                              .stands(1, 3, "MPI_Recv", "slid=0 tag=99"));
    EXPECT_EQ(circles_of(found), RankCircles{}) << function;
  }
}

}  // namespace
}  // namespace kojak::expert
