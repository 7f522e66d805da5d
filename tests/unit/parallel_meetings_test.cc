// Meetings of hand-made runs, and what is open at each: messages on their way, requests, epochs,
// locks, half-done calls, what stands around.
#include <gtest/gtest.h>

#include "tests/support/merge_runs.h"
#include "tests/support/run_meetings.h"

namespace kojak::test {
namespace {

using parallel::Meeting;

std::string number(double n) {
  return std::to_string(n);
}

// A process's local trace, call by call. Communicator 0 has all processes, 1 ranks 0 to 2, 2 rank 0
// and 1, each with a known identity; windows 0 and 1 are of all.
class Rank {
 public:
  Rank(std::uint32_t rank, std::uint32_t size, double begins = 0) : lid_(std::to_string(rank)) {
    const auto comm = [&](const std::string& id, std::uint32_t members) {
      text_ += "MPI_GROUP gid=" + id + " mode=1 count=" + std::to_string(members) +
               " ranks=[]\nMPI_COMM_REF cid=" + id + " gid=" + id + "\nCOMM_IDENTITY cid=" + id +
               " hi=" + id + "1 lo=7 flags=0\n";
    };
    comm("0", size);
    if (rank < 3 && size >= 3) comm("1", 3);
    if (rank < 2) comm("2", 2);
    for (const char* wid : {"0", "1"}) {
      text_ += std::string("MPI_WIN wid=") + wid + " cid=0\nWIN_IDENTITY wid=" + wid + " hi=9" +
               wid + " lo=4 flags=0 flavour=1 model=2\n";
    }
    enter("main", begins);
  }
  // A record at this time; `fields` behind location and time.
  Rank& record(const std::string& name, double at, const std::string& fields = "") {
    text_ +=
        name + " lid=" + lid_ + " time=" + number(at) + (fields.empty() ? "" : " ") + fields + "\n";
    return *this;
  }
  Rank& line(const std::string& text) {
    text_ += text + "\n";
    return *this;
  }
  Rank& enter(const std::string& region, double at) {
    return record("ENTER", at, "region=" + region);
  }
  // A call with one record in it, 0.5 long.
  Rank& call(const std::string& region, double at, const std::string& name,
             const std::string& fields, std::uint32_t request = kAbsent) {
    enter(region, at);
    if (request != kAbsent) line("ATTR_UI4 kind=2 value=" + std::to_string(request));
    return record(name, at, fields).record("EXIT", at + 0.5);
  }
  Rank& send(double at, std::uint32_t to, std::uint32_t request = kAbsent) {
    return call("MPI_Isend", at, "MPI_SEND", "dlid=" + std::to_string(to) + " cid=0 tag=3 sent=8",
                request);
  }
  Rank& receive(double at, std::uint32_t from, std::uint32_t request = kAbsent) {
    return call("MPI_Recv", at, "MPI_RECV", "slid=" + std::to_string(from) + " cid=0 tag=3 recvd=8",
                request);
  }
  Rank& collective(double at, double exit, const std::string& region = "MPI_Barrier", int cid = 0) {
    return enter(region, at)
        .record("MPI_COLLEXIT", exit, "rlid=absent cid=" + std::to_string(cid) + " sent=0 recvd=0");
  }
  Rank& fence(double at, double exit, int wid = 0) {
    return enter("MPI_Win_fence", at).record("MPI_WINCOLLEXIT", exit, "wid=" + std::to_string(wid));
  }
  Rank& put(double at, std::uint32_t to, int wid = 0) {
    return record("MPI_RMA_CALL", at,
                  "exit=" + number(at + 0.1) + " region=MPI_Put dlid=" + std::to_string(to) +
                      " wid=" + std::to_string(wid) + " rmaid=" + std::to_string(operations_++) +
                      " bytes=8 got=0 kind=1");
  }
  Rank& win(const std::string& region, double at,
            int synex) {  // with the members of communicator 2
    return enter(region, at)
        .record("MPI_WINEXIT", at + 0.5, "wid=0 cid=2 synex=" + std::to_string(synex));
  }
  std::string text() const { return text_; }

 private:
  std::string lid_, text_;
  int operations_ = 0;
};

struct HandMade {
  explicit HandMade(std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) ranks.emplace_back(i, size);
  }
  Rank& operator[](std::size_t rank) { return ranks[rank]; }
  // A barrier of all, half a second long.
  void meet(double at) {
    for (Rank& rank : ranks) rank.collective(at, at + 0.5);
  }
  Meetings meetings(std::size_t most = parallel::RowTable::kMost) {
    LocalRun run(static_cast<std::uint32_t>(ranks.size()));
    for (std::uint32_t i = 0; i < ranks.size(); ++i) run.add(i, ranks[i].text());
    auto found = find_meetings(run.dir.path().string(), most);
    if (!found) throw std::runtime_error(found.error().message());
    return *found;
  }
  // What is open at each meeting.
  std::vector<std::string> open() {
    std::vector<std::string> why;
    for (const Meeting& meeting : meetings().all) why.push_back(why_not(meeting));
    return why;
  }
  std::vector<Rank> ranks;
};
using Why = std::vector<std::string>;

TEST(Meetings, NothingIsOpen) {
  HandMade run(3);
  run.meet(1);
  for (Rank& rank : run.ranks) rank.collective(2, 2.5, "MPI_Allreduce");
  for (Rank& rank : run.ranks) rank.collective(3, 3.5, "MPI_Reduce_scatter_block_c");
  for (Rank& rank : run.ranks) rank.fence(4, 4.5);
  EXPECT_EQ(run.open(), (Why{"at rest", "at rest", "at rest", "at rest"}));
  const Meetings found = run.meetings();
  EXPECT_EQ(found.events, 27u);
  // Before the second one each process has three events: two enters and an exit.
  EXPECT_EQ(found.all[1].events, 9u);
  EXPECT_EQ(found.all[1].begins.size(), 3u);
  EXPECT_EQ(found.all[1].at, 2);
  EXPECT_EQ(found.all[1].left, 2.5);
  EXPECT_TRUE(found.all[3].key.window);
}

TEST(Meetings, WhereNotAllWait) {
  HandMade run(3);
  for (Rank& rank : run.ranks) rank.collective(1, 1.5, "MPI_Bcast");
  for (Rank& rank : run.ranks) rank.collective(2, 2.5, "MPI_Alltoallv");
  // Rank 1 leaves before rank 2 has come: of no bytes, or clocks are wrong.
  run[0].collective(3, 5);
  run[1].collective(3, 3.5);
  run[2].collective(4, 5);
  for (std::size_t i = 0; i < 2; ++i) run[i].collective(6, 6.5, "MPI_Barrier", 2);
  EXPECT_EQ(run.open(), Why{});
}

TEST(Meetings, MessagesOnTheirWay) {
  HandMade run(3);
  run[0].send(0.1, 1);
  run.meet(1);
  run[1].receive(2, 0);
  run.meet(3);
  run[0].send(4, 1);
  run.meet(5);
  EXPECT_EQ(run.open(), (Why{"messages", "at rest", "messages"}));
}

TEST(Meetings, ChannelsDoNotMakeUpForEachOther) {
  HandMade run(3);  // (as many sends as receives: rank 1 does not record the one, rank 2 the other)
  run[0].send(0.1, 1);
  run[1].receive(0.2, 2);
  run.meet(1);
  EXPECT_EQ(run.open(), Why{"messages"});
}

TEST(Meetings, Requests) {
  HandMade run(2);
  run[1].call("MPI_Irecv", 0.1, "MPI_RECV_REQUEST", "reqid=0 slid=0 cid=0 tag=3");
  run.meet(1);  // posted
  run[0].send(2, 1, 0);
  run[1].receive(2, 0, 0);
  run.meet(3);  // the send is not complete
  run[0].call("MPI_Wait", 4, "MPI_SEND_COMPLETE", "reqid=0");
  run.meet(5);
  run[0].send(6, 1, 1);
  run.meet(7);
  run[0].call("MPI_Wait", 8, "MPI_CANCELLED", "reqid=1");
  run.meet(9);
  run[1].call("MPI_Irecv", 10, "MPI_RECV_REQUEST", "reqid=1 slid=0 cid=0 tag=3");
  run[1].call("MPI_Request_free", 11, "MPI_REQUEST_FREED", "reqid=1");
  run.meet(12);  // it may be used no more
  run[0].send(13, 1);
  run.meet(14);  // it takes this one, and nobody sees that
  EXPECT_EQ(run.open(), (Why{"requests", "requests", "at rest", "messages, requests", "at rest",
                             "at rest", "messages"}));
}

TEST(Meetings, BegunCollectives) {
  HandMade run(3);
  const auto begin = [&](std::size_t rank, double at, int request) {
    run[rank].call("MPI_Ibarrier", at, "MPI_COLL_BEGIN",
                   "reqid=" + std::to_string(request) +
                       " rlid=absent cid=0 key=0 ordinal=0 op=1 sent=0 recvd=0");
  };
  const auto end = [&](std::size_t rank, double at, int request) {
    run[rank].call("MPI_Wait", at, "MPI_REQUEST_COMPLETE",
                   "reqid=" + std::to_string(request) + " kind=1");
  };
  begin(0, 0.1, 0);
  run.meet(1);
  begin(1, 1.6, 0);
  begin(2, 1.6, 0);
  run.meet(3);
  for (std::size_t i = 0; i < 3; ++i) end(i, 4, 0);
  run.meet(5);
  // Complete at rank 0, where rank 2 has not begun: it is no barrier by its name only.
  begin(0, 6, 1);
  end(0, 6.5, 1);
  run.meet(7);
  EXPECT_EQ(run.open(),
            (Why{"half-done calls, requests", "requests", "at rest", "half-done calls"}));
}

TEST(Meetings, HalfDoneCalls) {
  HandMade run(3);
  run[0].collective(0.1, 0.2, "MPI_Bcast", 1);
  run.meet(1);
  run[1].collective(1.6, 1.7, "MPI_Bcast", 1);
  run[2].collective(1.6, 1.7, "MPI_Bcast", 1);
  run.meet(2);
  // Rank 1 two operations ahead, rank 2 behind by as many as that: with weights of 1 and
  // 1 - members these make up for each other.
  run[0].collective(3, 3.1, "MPI_Bcast", 1);
  run[1].collective(3, 3.1, "MPI_Bcast", 1).collective(3.2, 3.3, "MPI_Bcast", 1);
  run.meet(4);
  run[0].collective(5, 5.1, "MPI_Bcast", 1);
  run[2].collective(5, 5.1, "MPI_Bcast", 1).collective(5.2, 5.3, "MPI_Bcast", 1);
  run.meet(6);
  run[0].call("MPI_Comm_dup", 7, "MPI_GROUP_CALL", "cid=2 key=0 ordinal=0");
  run.meet(8);
  run[1].call("MPI_Comm_dup", 9, "MPI_GROUP_CALL", "cid=2 key=0 ordinal=0");
  run.meet(10);
  EXPECT_EQ(run.open(), (Why{"half-done calls", "at rest", "half-done calls", "at rest",
                             "half-done calls", "at rest"}));
}

TEST(Meetings, PartitionedMessages) {
  HandMade run(2);
  const auto begin = [&](std::size_t rank, double at, int start) {
    run[rank].call("MPI_Start", at, "MPI_PART_BEGIN",
                   "reqid=0 plid=" + std::to_string(1 - rank) +
                       " cid=0 tag=3 side=" + std::to_string(rank + 1) +
                       " partitions=2 channel=0 start=" + std::to_string(start) + " bytes=8");
  };
  const auto end = [&](std::size_t rank, double at) {
    run[rank].call("MPI_Wait", at, "MPI_PART_END", "reqid=0");
  };
  begin(0, 0, 1);  // (Calls take half a second: the next one begins behind that.)
  end(0, 0.5);
  run.meet(1);  // the sender is done, the receiver has not begun
  begin(1, 1.6, 1);
  run.meet(3);
  end(1, 4);
  run.meet(5);
  EXPECT_EQ(run.open(), (Why{"half-done calls", "requests", "at rest"}));
}

TEST(Meetings, Epochs) {
  HandMade run(2);
  run[1].win("MPI_Win_post", 0.1, 0);
  run.meet(1);
  run[0].win("MPI_Win_start", 1.6, 0);
  run[1].win("MPI_Win_start", 1.6, 0);
  run.meet(3);
  run[0].win("MPI_Win_complete", 4, 1).win("MPI_Win_post", 4.5, 0);
  run[1].win("MPI_Win_complete", 4, 1);
  run.meet(5);
  run[0].win("MPI_Win_wait", 6, 1);
  run[1].win("MPI_Win_test", 6, 0).win("MPI_Win_test", 6.6, 1);
  run.meet(8);
  // Both sides are closed, but of one epoch more than of the other.
  run[0].win("MPI_Win_start", 9, 0).win("MPI_Win_complete", 9.5, 1);
  run.meet(10);
  EXPECT_EQ(run.open(), (Why{"half-done calls, epochs", "half-done calls, epochs", "epochs",
                             "at rest", "half-done calls"}));
}

TEST(Meetings, FencesEndTheirOwnOperations) {
  HandMade run(2);
  const auto fence = [&](double at, int wid) {
    for (Rank& rank : run.ranks) rank.fence(at, at + 0.5, wid);
  };
  fence(1, 0);
  run[0].put(2, 1, 0);
  run.meet(3);  // ends nothing
  fence(4, 1);  // neither
  fence(5, 0);  // ends it
  run.meet(6);
  EXPECT_EQ(run.open(),
            (Why{"at rest", "operations that a fence of another window ends",
                 "operations that a fence of another window ends", "at rest", "at rest"}));
}

TEST(Meetings, Locks) {
  HandMade run(2);
  run[0].call("MPI_Win_lock", 0.1, "MPI_WIN_LOCK", "llid=1 wid=0 ltype=0").put(0.7, 1);
  run.meet(1);
  run[0].call("MPI_Win_unlock", 2, "MPI_WIN_UNLOCK", "llid=1 wid=0");
  run.meet(3);
  run[1].call("MPI_Win_lock_all", 4, "MPI_WIN_LOCK_ALL", "wid=1").put(4.6, 0, 1);
  run.meet(5);
  run[1].call("MPI_Win_flush", 6, "MPI_WIN_FLUSH", "tlid=0 wid=1 local=0");
  run.meet(7);
  run[1].call("MPI_Win_unlock_all", 8, "MPI_WIN_UNLOCK_ALL", "wid=1");
  run.meet(9);
  EXPECT_EQ(run.open(),
            (Why{"locks", "at rest",
                 "operations that no flush has completed, locks of all where others are taken",
                 "locks of all where others are taken", "at rest"}));
}

TEST(Meetings, LocksOfAllAlone) {
  HandMade run(2);
  run[1].call("MPI_Win_lock_all", 0.1, "MPI_WIN_LOCK_ALL", "wid=1").put(0.7, 0, 1);
  run.meet(1);
  run[1].call("MPI_Win_flush_local", 2, "MPI_WIN_FLUSH", "tlid=0 wid=1 local=1");
  run.meet(3);
  run[1].call("MPI_Win_flush_all", 4, "MPI_WIN_FLUSH", "tlid=absent wid=1 local=0");
  run.meet(5);
  EXPECT_EQ(run.open(), (Why{"operations that no flush has completed",
                             "operations that no flush has completed", "at rest"}));
}

TEST(Meetings, WhatStandsAround) {
  HandMade run(2);
  run[0].enter("work", 0.1);
  run.meet(1);  // regions of the program are told to whoever begins there
  run[0].record("EXIT", 2).enter("MPI_Comm_create", 2.1);
  run.meet(3);
  run[0].record("EXIT", 4).record("OMP_FORK", 4.1);
  run.meet(5);
  run[0].record("OMP_JOIN", 6).record("OMP_ALOCK", 6.1, "lkid=1");
  run.meet(7);
  run[0].record("OMP_RLOCK", 8, "lkid=1");
  run.meet(9);
  run[0].record("LOG_OFF", 10);
  run[0].record("LOG_ON", 10.5);
  run.meet(11);
  run.meet(12);
  EXPECT_EQ(run.open(), (Why{"at rest", "calls around it", "threads", "threads", "at rest",
                             "what is open is not known", "what is open is not known"}));
}

TEST(Meetings, OneProcessAlone) {
  HandMade shmem(2);
  shmem.meet(1);
  shmem[0].record("SHMEM_QUIET", 2, "ctx=0");
  EXPECT_EQ(shmem.meetings().alone, "rank 0 uses SHMEM, ARMCI or UPC");
  HandMade threads(2);
  LocalRun files(2);
  files.add(0, threads[0].text());
  files.add(0, "ENTER lid=0 time=0 region=main\n", 1);
  files.add(1, threads[1].text());
  EXPECT_EQ(find_meetings(files.dir.path().string())->alone, "rank 0 has several threads");
  LocalRun missing(2);
  missing.add(0, threads[0].text());
  EXPECT_EQ(find_meetings(missing.dir.path().string())->alone,
            "traces of some processes are missing");
}

// The merge moves times that go back behind those before, which who begins in the midst does not
// know.
TEST(Meetings, ClocksThatGoBack) {
  const auto alone = [](double second) {
    HandMade run(2);
    run.meet(1);
    run[1].record("ENTER", 2, "region=work").record("EXIT", second);
    return run.meetings().alone;
  };
  EXPECT_EQ(alone(2.1), "");
  EXPECT_EQ(alone(2), "");  // takes no time
  EXPECT_EQ(alone(1.9), "the clock of rank 1 goes backwards");
  // A record with its exit, 0.1 later.
  const auto put = [](double next) {
    HandMade run(2);
    run.meet(1);
    run[0].put(2, 1).enter("work", next);
    return run.meetings().alone;
  };
  EXPECT_EQ(put(2.1), "");
  EXPECT_EQ(put(2.05), "the clock of rank 0 goes backwards");
}

// A clock may begin anywhere.
TEST(Meetings, TimesBelowNought) {
  LocalRun run(1);
  run.add(0, Rank(0, 1, -9).collective(-8, -7.5).collective(-2, 3).text());
  const auto found = find_meetings(run.dir.path().string());
  EXPECT_EQ(found->alone, "");
  EXPECT_EQ(found->all.size(), 2u);
}

TEST(Meetings, UnknownIdentity) {
  HandMade run(2);
  run.meet(1);
  for (Rank& rank : run.ranks) {
    rank.line("MPI_COMM_REF cid=5 gid=0\nCOMM_IDENTITY cid=5 hi=0 lo=0 flags=1");
    rank.collective(2, 2.5, "MPI_Bcast", 5);
  }
  run.meet(3);
  EXPECT_EQ(run.open(), (Why{"at rest", "what is open is not known"}));
}

// Tables of all processes keep the rows of the same meetings, however many each has seen.
TEST(Meetings, TooManyAreThinned) {
  HandMade run(2);
  for (int i = 0; i < 500; ++i) {
    const double at = 2 * i;
    run[0].send(at, 1);
    if (i % 2 == 1) run[1].receive(at, 0).receive(at + 0.5, 0);
    run.meet(at + 1);
  }
  const Meetings all = run.meetings();
  ASSERT_EQ(all.all.size(), 500u);
  const Meetings few = run.meetings(64);
  EXPECT_LE(few.all.size(), 64u);
  EXPECT_GE(few.all.size(), 16u);
  std::size_t at_rest = 0;
  for (const Meeting& meeting : few.all) {
    const auto same = std::find_if(all.all.begin(), all.all.end(),
                                   [&](const Meeting& m) { return m.key == meeting.key; });
    ASSERT_NE(same, all.all.end());
    EXPECT_EQ(same->begins, meeting.begins);
    EXPECT_EQ(same->at_rest(), meeting.at_rest());
    EXPECT_EQ(meeting.at_rest(), meeting.key.ordinal % 2 == 1);
    at_rest += meeting.at_rest() ? 1 : 0;
  }
  EXPECT_GE(at_rest, 4u);  // by their hash, and not every second one
  EXPECT_LT(at_rest, few.all.size());
}

TEST(Meetings, OffsetsAreThoseOfTheCall) {
  HandMade run(1);
  run[0].line("ATTR_UI4 kind=7 value=0").collective(1, 1.5);
  LocalRun files(1);
  files.add(0, run[0].text());
  const auto found = find_meetings(files.dir.path().string());
  const std::uint64_t begins = found->all.at(0).begins.at(0);
  // The attribute before the ENTER: a record with its type and a body of 5 bytes.
  EXPECT_EQ(std::to_integer<int>(files.locals[0].at(begins)), 5);
  EXPECT_EQ(std::to_integer<int>(files.locals[0].at(begins + 1)),
            static_cast<int>(RecordType::kAttrUi4));
}

}  // namespace
}  // namespace kojak::test
