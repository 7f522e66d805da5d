// Collective calls between two groups and among neighbours under wrong clocks: what the traces
// prove moves, all else stays; with times from paper.
#include <gtest/gtest.h>

#include <cstdio>

#include "merge/clock/call_places.h"
#include "tests/support/clock_runs.h"

namespace kojak::test {
namespace {

using merge::CallGrid;
using merge::neighbours_of;
using Places = std::vector<std::uint32_t>;

TEST(GridNeighbours, OneStepInEachDimension) {
  // Two rows of three, rows and columns open:  0 1 2
  //                                            3 4 5
  const CallGrid open{{2, 3}, {false, false}};
  EXPECT_EQ(neighbours_of(open, 0).places, (Places{1, 3}));
  EXPECT_EQ(neighbours_of(open, 4).places, (Places{1, 3, 5}));
  EXPECT_FALSE(neighbours_of(open, 4).whole) << "nobody is below it";
  // Rows closed: 0 and 2 are neighbours. Both closed: the two rows are each other's above and
  // below.
  EXPECT_EQ(neighbours_of({{2, 3}, {false, true}}, 0).places, (Places{1, 2, 3}));
  EXPECT_FALSE(neighbours_of({{2, 3}, {false, true}}, 0).whole);
  EXPECT_EQ(neighbours_of({{2, 3}, {true, true}}, 5).places, (Places{2, 3, 4}));
  EXPECT_TRUE(neighbours_of({{2, 3}, {true, true}}, 5).whole);
  // Only the middle of an open line has both neighbours.
  EXPECT_TRUE(neighbours_of({{3}, {false}}, 1).whole);
  EXPECT_FALSE(neighbours_of({{3}, {false}}, 2).whole);
  // A closed dimension of one: each is its own neighbour. An open one: it has none.
  EXPECT_EQ(neighbours_of({{1}, {true}}, 0).places, (Places{0}));
  EXPECT_TRUE(neighbours_of({{1}, {false}}, 0).places.empty());
  // Three dimensions, 2 x 2 x 3, place 7 = (1, 0, 1): the first is open (7 - 6), the second closed
  // (7 + 3), the third open (6 and 8).
  EXPECT_EQ(neighbours_of({{2, 2, 3}, {false, true, false}}, 7).places, (Places{1, 6, 8, 10}));
}

struct Times {
  double enter, exit;
};
struct Bytes {
  int sent, got;
  const char* root = "absent";
};

class CallKinds : public ClockRun {
 protected:
  // A process that makes one call, on communicator 0.
  static std::string call(std::uint32_t rank, const char* region, Times times, Bytes bytes) {
    char text[400];
    std::snprintf(text, sizeof text,
                  "ENTER lid=%u time=0 region=main\nENTER lid=%u time=%g region=%s\n"
                  "MPI_COLLEXIT lid=%u time=%g rlid=%s cid=0 sent=%d recvd=%d\n"
                  "EXIT lid=%u time=100\n",
                  rank, rank, times.enter, region, rank, times.exit, bytes.root, bytes.sent,
                  bytes.got, rank);
    return text;
  }
  // Processes {1, 0} and {2, 3} between which there is an intercommunicator.
  static std::string between(std::uint32_t rank) {
    const bool second = rank > 1;
    return std::string("MPI_GROUP gid=0 ranks=") + (second ? "[2,3]" : "[1,0]") +
           "\nMPI_GROUP gid=1 ranks=" + (second ? "[1,0]" : "[2,3]") +
           "\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=2\n"
           "COMM_REMOTE cid=0 gid=1\n";
  }
  // A line of processes in the order of their ranks, open or closed.
  static std::string line(std::uint32_t rank, std::uint32_t size, bool closed) {
    return world(size) + "CART_TOPOLOGY topid=0 cid=0 ndims=1 dimv=[" + std::to_string(size) +
           "] periodv=[" + (closed ? "1" : "0") + "] topnid=absent dimnid=[4294967295]\n" +
           "CART_COORDS topid=0 lid=" + std::to_string(rank) + " ndims=1 coordv=[" +
           std::to_string(rank) + "]\n";
  }

  // A graph of three processes, as the process records it: whom it takes data of.
  static std::string graph(std::uint32_t rank, const char* sources) {
    return world(3) + "GRAPH_NEIGHBOURS cid=0 pid=" + std::to_string(rank) +
           " kind=1 first=0 ranks=" + sources + "\n";
  }

  // When each process leaves its call.
  std::vector<double> exits() const {
    std::vector<double> times;
    for (const auto& event : support::merged_events(run->merged)) {
      if (event.name != "MPI_COLLEXIT") continue;
      times.resize(std::max<std::size_t>(times.size(), event.lid + 1), -1);
      times[event.lid] = event.time;
    }
    return times;
  }
  void expect_exits(const std::vector<double>& expected) const {
    const std::vector<double> found = exits();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t p = 0; p < found.size(); ++p) {
      EXPECT_NEAR(found[p], expected[p], 1e-8) << "process " << p;
    }
  }
};

// ---- between two groups -------------------------------------------------------------------------

TEST_F(CallKinds, ABarrierBetweenGroupsWaitsForTheOtherGroup) {
  // Process 0 leaves at 3, before process 3 of the other group enters at 5: it moves there. Process
  // 1 enters at 6, so that 2 and 3, which leave at 7, are right.
  merge({between(0) + call(0, "MPI_Barrier", {1, 3}, {0, 0}),
         between(1) + call(1, "MPI_Barrier", {6, 8}, {0, 0}),
         between(2) + call(2, "MPI_Barrier", {2, 7}, {0, 0}),
         between(3) + call(3, "MPI_Barrier", {5, 7}, {0, 0})});
  expect({.checked = 4, .before = 1, .unchecked = 0, .worst = 2});
  expect_exits({5, 8, 7, 7});
}

TEST_F(CallKinds, ABarrierBetweenGroupsDoesNotWaitForTheOwnGroup) {
  // As before, but process 0 leaves just when the other group has entered, at 5: long before its
  // fellow 1, for which it need not wait.
  merge({between(0) + call(0, "MPI_Barrier", {1, 5}, {0, 0}),
         between(1) + call(1, "MPI_Barrier", {6, 8}, {0, 0}),
         between(2) + call(2, "MPI_Barrier", {2, 7}, {0, 0}),
         between(3) + call(3, "MPI_Barrier", {4.5, 7}, {0, 0})});
  expect({.checked = 4, .before = 0, .stays = true});
}

TEST_F(CallKinds, ABroadcastBetweenGroups) {
  // Process 0 is the root (MPI_ROOT, which is recorded as itself), its fellow 1 takes no part
  // (MPI_PROC_NULL, no root) and leaves at 2. Process 2 leaves at 4, 1 s before the root enters.
  merge({between(0) + call(0, "MPI_Bcast", {5, 6}, {8, 0, "0"}),
         between(1) + call(1, "MPI_Bcast", {1, 2}, {0, 0}),
         between(2) + call(2, "MPI_Bcast", {3, 4}, {0, 8, "0"}),
         between(3) + call(3, "MPI_Bcast", {7, 8}, {0, 8, "0"})});
  expect({.checked = 2, .before = 1, .worst = 1});
  expect_exits({6, 2, 5, 8});
}

TEST_F(CallKinds, AReductionBetweenGroups) {
  // Root 2 takes from processes 0 and 1, of which the later enters at 5; 3 takes no part.
  merge({between(0) + call(0, "MPI_Reduce", {5, 6}, {8, 0, "2"}),
         between(1) + call(1, "MPI_Reduce", {1, 2}, {8, 0, "2"}),
         between(2) + call(2, "MPI_Reduce", {3, 4}, {0, 8, "2"}),
         between(3) + call(3, "MPI_Reduce", {9, 9.5}, {0, 0})});
  expect({.checked = 1, .before = 1});
  expect_exits({6, 2, 5, 9.5});
}

TEST_F(CallKinds, DataInOneDirectionOnly) {
  // MPI_Allgather in which the second group gives nothing: the first need not wait for it. Process
  // 3 leaves at 4, before 1 enters at 6.
  merge({between(0) + call(0, "MPI_Allgather", {1, 3}, {8, 0}),
         between(1) + call(1, "MPI_Allgather", {6, 8}, {8, 0}),
         between(2) + call(2, "MPI_Allgather", {20, 21}, {0, 16}),
         between(3) + call(3, "MPI_Allgather", {2, 4}, {0, 16})});
  expect({.checked = 2, .before = 1});
  expect_exits({3, 8, 21, 6});
}

TEST_F(CallKinds, AnIrregularExchangeBetweenGroups) {
  // Process 2 takes 15 of the other group, which gives 10 (entering at 1) and 10 (at 6): it needs
  // both, though it gives 30 itself, because it cannot have kept any. Process 3 takes 5, for which
  // the first is enough. Of the 30, process 0 takes 10 and 1 takes 20.
  merge({between(0) + call(0, "MPI_Alltoallv", {1, 9}, {10, 10}),
         between(1) + call(1, "MPI_Alltoallv", {6, 9}, {10, 20}),
         between(2) + call(2, "MPI_Alltoallv", {2, 4}, {30, 15}),
         between(3) + call(3, "MPI_Alltoallv", {2, 4}, {0, 5})});
  expect({.checked = 4, .before = 1});
  expect_exits({9, 9, 6, 4});
}

TEST_F(CallKinds, SumsThatDoNotAddUpProveNothing) {
  // All that is sent is received, 30. But the first group sends 20, and the second receives 15.
  merge({between(0) + call(0, "MPI_Alltoallv", {1, 2}, {10, 15}),
         between(1) + call(1, "MPI_Alltoallv", {6, 7}, {10, 0}),
         between(2) + call(2, "MPI_Alltoallv", {2, 4}, {10, 15}),
         between(3) + call(3, "MPI_Alltoallv", {2, 4}, {0, 0})});
  expect({.checked = 0, .unchecked = 2, .stays = true});
}

TEST_F(CallKinds, SumsWithMembersOfAnotherWorldProveNothing) {
  // flags=4: others have sent, too, and are not in this run's traces.
  for (const bool foreign : {false, true}) {
    std::string comm = world(2);
    if (foreign) comm.replace(comm.find("flags=0"), 7, "flags=4");
    merge({comm + call(0, "MPI_Alltoallv", {1, 2}, {0, 10}),
           comm + call(1, "MPI_Alltoallv", {5, 6}, {10, 0})});
    expect({.checked = foreign ? 0 : 1, .unchecked = foreign ? 1 : 0});
    expect_exits({foreign ? 2.0 : 5.0, 6});
  }
}

TEST_F(CallKinds, AMissingMemberOfTheOtherGroup) {
  // Without process 3, process 2 is still waited for by 0 and 1.
  merge({between(0) + call(0, "MPI_Barrier", {1, 3}, {0, 0}),
         between(1) + call(1, "MPI_Barrier", {1, 8}, {0, 0}),
         between(2) + call(2, "MPI_Barrier", {5, 7}, {0, 0}), ""});
  expect({.checked = 3, .before = 1});
  expect_exits({5, 8, 7});
}

// ---- among neighbours ---------------------------------------------------------------------------

TEST_F(CallKinds, NeighboursInAnOpenLine) {
  // 0 - 1 - 2 - 3. Process 1 leaves at 3, before its neighbour 2 enters at 5. Process 0 leaves at 2
  // and needs process 1 only; 3 enters at 8, and only 2 needs it.
  merge({line(0, 4, false) + call(0, "MPI_Neighbor_allgather", {1, 2}, {8, 16}),
         line(1, 4, false) + call(1, "MPI_Neighbor_allgather", {1.5, 3}, {8, 16}),
         line(2, 4, false) + call(2, "MPI_Neighbor_allgather", {5, 9}, {8, 16}),
         line(3, 4, false) + call(3, "MPI_Neighbor_allgather", {8, 10}, {8, 16})});
  expect({.checked = 4, .before = 1, .unchecked = 0, .worst = 2});
  expect_exits({2, 5, 9, 10});
}

TEST_F(CallKinds, AClosedLineHasNoEnds) {
  // The same, closed: process 0 needs process 3, too, which enters at 8.
  merge({line(0, 4, true) + call(0, "MPI_Neighbor_alltoall", {1, 2}, {16, 16}),
         line(1, 4, true) + call(1, "MPI_Neighbor_alltoall", {1.5, 6}, {16, 16}),
         line(2, 4, true) + call(2, "MPI_Neighbor_alltoall", {5, 9}, {16, 16}),
         line(3, 4, true) + call(3, "MPI_Neighbor_alltoall", {8, 10}, {16, 16})});
  expect({.checked = 4, .before = 1, .worst = 6});
  expect_exits({8, 6, 9, 10});
}

TEST_F(CallKinds, ANeighbourThatGivesNothingIsNotWaitedFor) {
  // Process 2 gives nothing, so 1 may leave before it enters. Nobody takes nothing.
  merge({line(0, 3, false) + call(0, "MPI_Neighbor_allgatherv", {1, 2}, {8, 8}),
         line(1, 3, false) + call(1, "MPI_Neighbor_allgatherv", {1.5, 3}, {8, 8}),
         line(2, 3, false) + call(2, "MPI_Neighbor_allgatherv", {5, 6}, {0, 8})});
  expect({.checked = 3, .before = 0, .stays = true});
}

TEST_F(CallKinds, SumsOfNeighbours) {
  // A ring of four. Process 0 takes 15; its neighbours 1 and 3 give 10 each, entering at 4 and 6:
  // it needs both. Process 2 takes 5 of them: the first, at 4, is enough. It leaves at 4.5.
  merge({line(0, 4, true) + call(0, "MPI_Neighbor_alltoallv", {1, 2}, {0, 15}),
         line(1, 4, true) + call(1, "MPI_Neighbor_alltoallv", {4, 5}, {10, 0}),
         line(2, 4, true) + call(2, "MPI_Neighbor_alltoallv", {1, 4.5}, {0, 5}),
         line(3, 4, true) + call(3, "MPI_Neighbor_alltoallv", {6, 7}, {10, 0})});
  expect({.checked = 2, .before = 1, .unchecked = 0, .worst = 4});
  expect_exits({6, 5, 4.5, 7});
}

TEST_F(CallKinds, AtABorderSumsProveNothing) {
  // What 0 and 2 take may be what their counts name for MPI_PROC_NULL; 1 has two neighbours.
  merge({line(0, 3, false) + call(0, "MPI_Neighbor_alltoallw", {1, 2}, {10, 10}),
         line(1, 3, false) + call(1, "MPI_Neighbor_alltoallw", {5, 6}, {0, 20}),
         line(2, 3, false) + call(2, "MPI_Neighbor_alltoallw", {7, 8}, {10, 10})});
  expect({.checked = 1, .before = 1, .unchecked = 2});
  expect_exits({2, 7, 8});
}

TEST_F(CallKinds, AMissingNeighbour) {
  // Without process 1, nobody knows what it gave; what 2 gives to 3 in a regular call still counts.
  merge({line(0, 4, true) + call(0, "MPI_Neighbor_alltoallv", {1, 2}, {10, 10}), "",
         line(2, 4, true) + call(2, "MPI_Neighbor_alltoallv", {3, 4}, {10, 10}),
         line(3, 4, true) + call(3, "MPI_Neighbor_alltoallv", {5, 6}, {0, 20})});
  // Unchecked: 0 and 2, whose neighbour 1 is missing.
  expect({.checked = 1, .before = 0, .unchecked = 2});
  merge({line(0, 4, true) + call(0, "MPI_Neighbor_alltoall", {1, 6}, {16, 16}), "",
         line(2, 4, true) + call(2, "MPI_Neighbor_alltoall", {3, 4}, {16, 16}),
         line(3, 4, true) + call(3, "MPI_Neighbor_alltoall", {5, 6}, {16, 16})});
  expect({.checked = 3});
  EXPECT_EQ(clocks.violations_before, 1u) << "2 leaves before 3 enters";
  expect_exits({6, -1, 5, 6});
}

TEST_F(CallKinds, NeighboursInAGraph) {
  // Process 0 takes of 1 and 2, process 1 of 0, process 2 of nobody but itself. 0 leaves at 3,
  // before 2 enters at 7; 1 leaves at 2, after 0 entered at 1; 2 leaves after nobody.
  merge({graph(0, "[1,2,1]") + call(0, "MPI_Neighbor_allgather", {1, 3}, {8, 24}),
         graph(1, "[0]") + call(1, "MPI_Neighbor_allgather", {1.5, 2}, {8, 8}),
         graph(2, "[2]") + call(2, "MPI_Neighbor_allgather", {7, 8}, {8, 8})});
  expect({.checked = 2, .before = 1, .unchecked = 0, .worst = 4});
  expect_exits({7, 2, 8});
}

TEST_F(CallKinds, ANeighbourInAGraphThatEntersJustInTime) {
  // Process 1 leaves the moment before 2 enters, of which it takes nothing; 0 the moment after.
  merge({graph(0, "[2]") + call(0, "MPI_Neighbor_alltoall", {1, 7.001}, {8, 8}),
         graph(1, "[0]") + call(1, "MPI_Neighbor_alltoall", {1.5, 6.999}, {0, 8}),
         graph(2, "[]") + call(2, "MPI_Neighbor_alltoall", {7, 8}, {8, 0})});
  expect({.checked = 2, .before = 0, .stays = true});
}

TEST_F(CallKinds, SumsOfNeighboursInAGraph) {
  // Process 0 takes 15 of 1 (gives 10 in all, enters at 4) and 2 (gives 10, at 6): both are needed.
  // With 10, the first would do.
  for (const bool both : {true, false}) {
    merge({graph(0, "[1,2]") + call(0, "MPI_Neighbor_alltoallv", {1, 5}, {0, both ? 15 : 10}),
           graph(1, "[]") + call(1, "MPI_Neighbor_alltoallv", {4, 5}, {10, 0}),
           graph(2, "[]") + call(2, "MPI_Neighbor_alltoallv", {6, 7}, {10, 0})});
    expect({.checked = 1, .before = both ? 1 : 0});
    expect_exits({both ? 6.0 : 5.0, 5, 7});
  }
}

TEST_F(CallKinds, RecordedNeighboursGoBeforeTheGrid) {
  // An open line of three, whose processes recorded their neighbours: then bytes are theirs only,
  // at the border, too. Process 0 takes 10 of 1, which enters at 5.
  const auto near = [](std::uint32_t rank, const char* ranks) {
    return line(rank, 3, false) + "GRAPH_NEIGHBOURS cid=0 pid=" + std::to_string(rank) +
           " kind=1 first=0 ranks=" + ranks + "\n";
  };
  merge({near(0, "[1]") + call(0, "MPI_Neighbor_alltoallw", {1, 2}, {10, 10}),
         near(1, "[0,2]") + call(1, "MPI_Neighbor_alltoallw", {5, 8}, {10, 10}),
         near(2, "[1]") + call(2, "MPI_Neighbor_alltoallw", {7, 9}, {0, 0})});
  expect({.checked = 2, .before = 1, .unchecked = 0});
  expect_exits({5, 8, 9});
}

TEST_F(CallKinds, SumsWithANeighbourOfAnotherWorldProveNothing) {
  // Process 0 has a neighbour that is no member of the communicator here.
  merge({graph(0, "[1,7]") + call(0, "MPI_Neighbor_alltoallv", {1, 2}, {0, 10}),
         graph(1, "[]") + call(1, "MPI_Neighbor_alltoallv", {4, 5}, {10, 0})});
  expect({.checked = 0, .unchecked = 1, .stays = true});
}

TEST_F(CallKinds, WithoutATopologyNobodyKnowsTheNeighbours) {
  // Older traces, or those of a process that did not record its neighbours. Who takes nothing waits
  // for nobody.
  merge({world(3) + call(0, "MPI_Neighbor_allgather", {1, 2}, {8, 16}),
         world(3) + call(1, "MPI_Neighbor_allgather", {5, 6}, {8, 16}),
         world(3) + call(2, "MPI_Neighbor_allgather", {7, 8}, {8, 0})});
  expect({.checked = 0, .unchecked = 2, .stays = true});
}

TEST_F(CallKinds, ATopologyThatDoesNotFitIsNone) {
  // Of two processes in a line of three; and with a coordinate that MPI would not give.
  for (const bool size : {true, false}) {
    const auto text = [&](std::uint32_t rank) {
      std::string trace = size ? line(rank, 3, false) : line(rank, 2, false);
      const std::string from = size ? "ranks=[0,1,2]" : "coordv=[" + std::to_string(rank);
      const std::string to = size ? "ranks=[0,1]" : "coordv=[" + std::to_string(1 - rank);
      return trace.replace(trace.find(from), from.size(), to);
    };
    merge({text(0) + call(0, "MPI_Neighbor_allgather", {1, 2}, {8, 16}),
           text(1) + call(1, "MPI_Neighbor_allgather", {5, 6}, {8, 16})});
    expect({.checked = 0, .unchecked = 2, .stays = true});
  }
}

// ---- non-blocking -------------------------------------------------------------------------------

TEST_F(CallKinds, WithoutTheRecordOfItsBeginNothingTellsWhatIsComplete) {
  // Process 0 seems to complete its MPI_Ibarrier before process 1 begins its own; but in these
  // older traces no record says on which communicator they were, or that this request was of this
  // call. The second request is one of I/O.
  const auto text = [](std::uint32_t rank, Times times, Times wait) {
    char events[500];
    std::snprintf(events, sizeof events,
                  "ENTER lid=%u time=0 region=main\nENTER lid=%u time=%g region=MPI_Ibarrier\n"
                  "EXIT lid=%u time=%g\nENTER lid=%u time=%g region=MPI_Waitall\n"
                  "MPI_REQUEST_COMPLETE lid=%u time=%g reqid=0 kind=1\n"
                  "MPI_REQUEST_COMPLETE lid=%u time=%g reqid=1 kind=2\n"
                  "EXIT lid=%u time=%g\nEXIT lid=%u time=100\n",
                  rank, rank, times.enter, rank, times.exit, rank, wait.enter, rank, wait.exit,
                  rank, wait.exit, rank, wait.exit, rank);
    return world(2) + events;
  };
  merge({text(0, {1, 1.5}, {2, 3}), text(1, {5, 5.5}, {6, 7})});
  expect({.checked = 0, .unchecked = 2, .stays = true});
}

}  // namespace
}  // namespace kojak::test
