// A cut of a trace whose severities are known from arithmetic: what falls into the time window
// counts, clipped to it; what is cut through is not evaluated; what the ranks left out take part in
// neither.
#include <gtest/gtest.h>

#include "tests/unit/cut_severities.h"

namespace kojak::test {
namespace {

// 0          10                    20                   30          40
// |  in front |          of the window [10, 30]          |  behind  |
constexpr const char* kTrace =
    // The first fence lies in front.
    "ENTER lid=0 time=0 region=main\n"
    "ENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Win_fence\n"
    "ENTER lid=1 time=2 region=MPI_Win_fence\n"
    "MPI_WINCOLLEXIT lid=0 time=3 wid=0\n"
    "MPI_WINCOLLEXIT lid=1 time=3 wid=0\n"
    // A put in front, one in the window: both end at the second fence.
    "ENTER lid=0 time=4 region=MPI_Put\n"
    "MPI_PUT_1TS lid=0 time=4 dlid=1 wid=0 rmaid=0 sent=100\n"
    "EXIT lid=0 time=5\n"
    // A message that crosses the beginning.
    "ENTER lid=1 time=6 region=MPI_Send\n"
    "MPI_SEND lid=1 time=6 dlid=0 cid=0 tag=7 sent=10\n"
    "EXIT lid=1 time=7\n"
    // A barrier that rank 0 enters in front, rank 1 in the window.
    "ENTER lid=0 time=8 region=MPI_Barrier\n"
    "ENTER lid=1 time=12 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=0 time=13 sent=0 recvd=0\n"
    "MPI_COLLEXIT lid=1 time=13 sent=0 recvd=0\n"
    "ENTER lid=0 time=14 region=MPI_Recv\n"
    "MPI_RECV lid=0 time=14.5 slid=1 cid=0 tag=7 recvd=10\n"
    "EXIT lid=0 time=14.5\n"
    // A late sender.
    "ENTER lid=0 time=15 region=MPI_Recv\n"
    "ENTER lid=1 time=17 region=MPI_Send\n"
    "MPI_SEND lid=1 time=17 dlid=0 cid=0 tag=7 sent=20\n"
    "EXIT lid=1 time=17.5\n"
    "MPI_RECV lid=0 time=18 slid=1 cid=0 tag=7 recvd=20\n"
    "EXIT lid=0 time=18\n"
    "ENTER lid=0 time=19 region=MPI_Put\n"
    "MPI_PUT_1TS lid=0 time=19 dlid=1 wid=0 rmaid=1 sent=200\n"
    "EXIT lid=0 time=20\n"
    "ENTER lid=1 time=21 region=MPI_Win_fence\n"
    "ENTER lid=0 time=24 region=MPI_Win_fence\n"
    "MPI_WINCOLLEXIT lid=0 time=25 wid=0\n"
    "MPI_PUT_1TE lid=1 time=25 slid=0 wid=0 rmaid=0 recvd=100\n"
    "MPI_PUT_1TE lid=1 time=25 slid=0 wid=0 rmaid=1 recvd=200\n"
    "MPI_WINCOLLEXIT lid=1 time=25 wid=0\n"
    // A barrier that only rank 0 leaves in the window.
    "ENTER lid=0 time=26 region=MPI_Barrier\n"
    "ENTER lid=1 time=28 region=MPI_Barrier\n"
    "MPI_COLLEXIT lid=0 time=29 sent=0 recvd=0\n"
    "MPI_COLLEXIT lid=1 time=31 sent=0 recvd=0\n"
    "EXIT lid=0 time=40\n"
    "EXIT lid=1 time=40\n";

TEST(CutTime, TheWholeIsWhatItIs) {
  const Severities whole(trace_of(kTrace));
  EXPECT_FALSE(whole.suspect());
  EXPECT_NEAR(whole("mpi_barrier_wait", "MPI_Barrier", 0), 4 + 2, kTolerance);  // 12 - 8, 28 - 26
  EXPECT_NEAR(whole.total("time"), 80, kTolerance);
}

TEST(CutTime, SeveritiesAreThoseOfTheWindow) {
  const Bytes part = cut(trace_of(kTrace), window(10, 30));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_FALSE(s.suspect());
  EXPECT_NEAR(s.total("time"), 40, kTolerance);  // 2 x (30 - 10)
  // The first barrier begins at the edge for rank 0: 12 - 10. The second is cut through: its calls
  // count as time, [26, 29] and [28, 30], but not as waiting.
  EXPECT_NEAR(s("mpi_barrier_wait", "MPI_Barrier", 0), 2, kTolerance);
  EXPECT_NEAR(s("mpi_barrier_wait", "MPI_Barrier", 1), 0, kTolerance);
  EXPECT_NEAR(s("time", "MPI_Barrier", 0), (13 - 10) + (29 - 26), kTolerance);
  EXPECT_NEAR(s("time", "MPI_Barrier", 1), (13 - 12) + (30 - 28), kTolerance);
  EXPECT_NEAR(s("visits", "MPI_Barrier", 1), 2, kTolerance);
  // 17 - 15. The receive of the message that was sent in front is a call without a message.
  EXPECT_NEAR(s("mpi_latesender", "MPI_Recv", 0), 2, kTolerance);
  EXPECT_NEAR(s("time", "MPI_Recv", 0), 0.5 + 3, kTolerance);
  EXPECT_NEAR(s("bytes_rcvd_p2p", "MPI_Recv", 0), 20, kTolerance);
  EXPECT_NEAR(s("bytes_sent_p2p", "MPI_Send", 1), 20, kTolerance);
  // 24 - 21.
  EXPECT_NEAR(s("mpi_rma_fence_wait", "MPI_Win_fence", 1), 3, kTolerance);
  EXPECT_NEAR(s("mpi_rma_fence_wait", "MPI_Win_fence", 0), 0, kTolerance);
  // One of the two puts.
  EXPECT_NEAR(s("visits", "MPI_Put", 0), 1, kTolerance);
  EXPECT_EQ(s.total("bytes_put"), 200);
}

// The regions that the cut opens at 10 and closes at 30 count nothing themselves. An interval that
// an edge cuts through counts whole where it is told: CYCLES by the event at its end, MISSES by
// that at its beginning. TOTAL counts since the start of the run.
TEST(CutTime, CountersOfIntervalsAreNotCountedTwice) {
  const Bytes part = cut(trace_of("METRIC metid=0 metnid=\"CYCLES\" interval=1\n"
                                  "METRIC metid=1 metnid=\"MISSES\" interval=2\n"
                                  "METRIC metid=2 metnid=\"TOTAL\"\n"
                                  "ENTER lid=0 time=0 region=main metv=[7,3,100]\n"
                                  "ENTER lid=0 time=5 region=f metv=[10,4,110]\n"
                                  "EXIT lid=0 time=15 metv=[30,5,140]\n"
                                  "ENTER lid=0 time=25 region=g metv=[20,6,160]\n"
                                  "EXIT lid=0 time=35 metv=[8,2,168]\n"
                                  "EXIT lid=0 time=40 metv=[1,1,169]\n"),
                         window(10, 30));
  const Severities s(part);
  EXPECT_EQ(s("CYCLES", "f", 0), 30);
  EXPECT_EQ(s("CYCLES", "main", 0), 20);
  EXPECT_EQ(s("CYCLES", "g", 0), 0);
  EXPECT_EQ(s("MISSES", "f", 0), 0);
  EXPECT_EQ(s("MISSES", "main", 0), 5);
  EXPECT_EQ(s("MISSES", "g", 0), 6);
  EXPECT_EQ(s("TOTAL", "f", 0), 140 - 110);
  EXPECT_EQ(s("TOTAL", "main", 0), 160 - 140);
  EXPECT_EQ(s("TOTAL", "g", 0), 0);
}

TEST(CutTime, OrdinalsGoOnFromTheStateAtTheBeginning) {
  const Bytes part = cut(trace_of(kTrace), window(10, 30));
  std::vector<std::uint64_t> fences, states;
  earl::Trace trace = open_trace(part);
  earl::Event event;
  while (trace.next(event)) {
    if (event.type != earl::EventType::kWinState) continue;
    EXPECT_EQ(event.time.value, 10);
    states.push_back(event.count[0]);
  }
  EXPECT_EQ(states, (std::vector<std::uint64_t>{1, 1}));  // a fence each, in front
  struct Sink : earl::Sink {
    std::vector<std::uint64_t>* fences;
    void on_window_collective(const earl::WindowInstance& w) { fences->push_back(w.ordinal); }
  } sink;
  sink.fences = &fences;
  earl::Trace again = open_trace(part);
  earl::Replay replay(again, sink);
  replay.run();
  EXPECT_EQ(fences, (std::vector<std::uint64_t>{1}));
}

TEST(CutRanks, WhatNeedsTheOthersIsNotEvaluated) {
  const Bytes part = cut(trace_of(kTrace), only_ranks({0}));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_FALSE(s.suspect());
  EXPECT_NEAR(s.total("time"), 40, kTolerance);
  EXPECT_NEAR(s.total("mpi_barrier_wait"), 0, kTolerance);
  EXPECT_NEAR(s("time", "MPI_Barrier", 0), (13 - 8) + (29 - 26), kTolerance);
  EXPECT_EQ(s.total("bytes_put"), 0);  // to a rank that is not there
  EXPECT_NEAR(s("visits", "MPI_Put", 0), 2, kTolerance);
}

TEST(CutRegions, EverythingElseIsAPause) {
  const Bytes part = cut(trace_of(kTrace), only_regions({"MPI_Recv", "MPI_Send"}));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_FALSE(s.suspect());
  EXPECT_NEAR(s.total("time"), 80, kTolerance);
  // Rank 0 received for 0.5 + 3 s, rank 1 sent for 1 + 0.5 s.
  EXPECT_NEAR(s("overhead", "PAUSING", 0), 40 - 3.5, kTolerance);
  EXPECT_NEAR(s("overhead", "PAUSING", 1), 40 - 1.5, kTolerance);
  EXPECT_NEAR(s("mpi_latesender", "MPI_Recv", 0), 2, kTolerance);  // 17 - 15
  EXPECT_NEAR(s("bytes_rcvd_p2p", "MPI_Recv", 0), 10 + 20, kTolerance);
}

// A function that is entered with a call, as its call site tells, is a region that can be named;
// the cut has the whole path.
TEST(CutRegions, FunctionsOnTheWayToACallAreNamed) {
  const Bytes whole = trace_of(R"(
STRING strid=0 cntc=0 str="main"
STRING strid=1 cntc=0 str="f"
STRING strid=2 cntc=0 str="g"
STRING strid=3 cntc=0 str="h"
REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=1 rnid=1 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=2 rnid=2 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=3 rnid=3 fid=absent begln=absent endln=absent rdid=absent rtype=1
CALL_SITE csid=0 fid=absent lno=1 erid=1 lrid=0
CALL_SITE csid=1 fid=absent lno=2 erid=2 lrid=1
CALL_SITE_CALLER csid=1 caller=0
CALL_SITE csid=2 fid=absent lno=3 erid=3 lrid=2
CALL_SITE_CALLER csid=2 caller=1
CALL_SITE csid=3 fid=absent lno=3 erid=3 lrid=2
ENTER lid=0 time=0 rid=0
ENTER_CS lid=0 time=1 csid=2
EXIT lid=0 time=3
ENTER_CS lid=0 time=4 csid=3
EXIT lid=0 time=8
EXIT lid=0 time=10
)");
  const Bytes part = cut(whole, only_regions({"f"}));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s("overhead", "PAUSING", 0), 1 + (10 - 3), kTolerance);
  EXPECT_NEAR(s("time", "h", 0), 3 - 1, kTolerance);
  EXPECT_NEAR(s("visits", "f", 0), 1, kTolerance);
  EXPECT_NEAR(s("visits", "g", 0), 1, kTolerance);
  EXPECT_NEAR(Severities(whole)("time", "h", 0), 2 + 4, kTolerance);
}

// A location of a rank that no run of this size has is left out, so that the numbers of locations
// are not those of their definitions. (A fuzzer found that the cut read beyond its list of them.)
TEST(CutRegions, ALocationThatIsLeftOutHasNoNumber) {
  const Bytes whole = trace_of(R"(
MACHINE mid=0 nodec=1 mnid=0
LOCATION lid=0 mid=0 nid=0 pid=100000 tid=0
LOCATION lid=1 mid=0 nid=0 pid=0 tid=0
LOCATION lid=2 mid=0 nid=0 pid=1 tid=0
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=2 time=1 region=MPI_Win_lock
MPI_WIN_LOCK lid=2 time=2 llid=1 wid=0 ltype=1
EXIT lid=2 time=2
ENTER lid=2 time=3 region=MPI_Put
MPI_PUT_1TS lid=2 time=3 dlid=1 wid=0 rmaid=0 sent=8
EXIT lid=2 time=4
ENTER lid=2 time=5 region=MPI_Win_unlock
MPI_PUT_1TE lid=1 time=6 slid=2 wid=0 rmaid=0 recvd=8
MPI_WIN_UNLOCK lid=2 time=6 llid=1 wid=0
EXIT lid=2 time=6
EXIT lid=1 time=10
EXIT lid=2 time=10
)");
  const Severities s(cut(whole, only_regions({"MPI_Put"})));
  EXPECT_NEAR(s("visits", "MPI_Put", 2), 1, kTolerance);
  EXPECT_NEAR(s("time", "MPI_Put", 2), 4 - 3, kTolerance);
  EXPECT_THROW(cut(whole, only_ranks({100000})), std::runtime_error);
}

TEST(CutSelection, UnknownRanksAndRegionsAreMistakes) {
  const Bytes whole = trace_of(kTrace);
  EXPECT_THROW(cut(whole, only_ranks({2})), std::runtime_error);
  EXPECT_THROW(cut(whole, only_regions({"MPI_Gather"})), std::runtime_error);
}

}  // namespace
}  // namespace kojak::test
