// Who waits for whom in a call of several processes: what can be proved, with values from paper,
// and the same through whole merges under wrong clocks.
#include <gtest/gtest.h>

#include <cmath>

#include "merge/clock/call_causes.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using merge::CallMember;
using merge::CallRule;
using merge::kNoMember;
using merge::last_needed;
using merge::latest_enters;
using Needed = std::vector<std::size_t>;

constexpr double kNever = HUGE_VAL;
constexpr std::size_t kNone = kNoMember;

// Members of an MPI_Alltoallv, by rank: when they enter, bytes sent and received.
std::vector<CallMember> irregular(
    const std::vector<std::tuple<double, std::uint64_t, std::uint64_t>>& rows) {
  std::vector<CallMember> members;
  for (const auto& [enter, sent, got] : rows) {
    const auto rank = static_cast<std::uint32_t>(members.size());
    members.push_back({rank, 0, enter, sent != 0, got > sent, sent, got});
  }
  return members;
}

TEST(CallCauses, AllWaitForTheLastOfTheOthers) {
  // Rank 1 enters last: the others wait for it, and it waits for rank 2. Rank 3 takes no data.
  const std::vector<CallMember> members{
      {0, 0, 1, true, true}, {1, 0, 9, true, true}, {2, 0, 5, true, true}, {3, 0, 2, true, false}};
  EXPECT_EQ(last_needed(members, CallRule::kAll), (Needed{1, 2, 1, kNone}));
  // Nobody may enter later than the first exit with data, which is 10; rank 3's 4 does not count.
  EXPECT_EQ(latest_enters(members, CallRule::kAll, {11, 10, 12, 4}),
            (std::vector<double>{10, 10, 10, 10}));
}

TEST(CallCauses, EqualTimesGoByTheHigherRank) {
  const std::vector<CallMember> members{{0, 0, 3, true, true}, {1, 0, 3, true, true}};
  EXPECT_EQ(last_needed(members, CallRule::kAll), (Needed{1, 0}));
}

TEST(CallCauses, APrefixNeedsTheLowerRanksOnly) {
  // The communicator's order is 2, 0, 1; they enter at 4 (rank 0), 1 (rank 1), 3 (rank 2). Rank 2,
  // the first, needs nobody; rank 0 needs rank 2; rank 1 needs both, of which rank 0 is the later.
  const std::vector<CallMember> members{
      {0, 1, 4, true, true}, {1, 2, 1, true, true}, {2, 0, 3, true, true}};
  EXPECT_EQ(last_needed(members, CallRule::kLower), (Needed{2, 0, kNone}));
  // Exits 6 (rank 0), 5 (rank 1), 3.5 (rank 2): rank 2 may enter until 5, the first exit of the
  // higher ones; rank 0 until rank 1 leaves, at 5; rank 1 when it likes.
  EXPECT_EQ(latest_enters(members, CallRule::kLower, {6, 5, 3.5}),
            (std::vector<double>{5, kNever, 5}));
}

TEST(CallCauses, NobodyReceivesMoreThanThoseWhoCameCanHaveSent) {
  // Rank 0 sends 100, all of it to rank 1: 100 received, nothing sent of its own.
  EXPECT_EQ(last_needed(irregular({{5, 100, 0}, {1, 0, 100}, {9, 0, 0}}), CallRule::kSupply),
            (Needed{kNone, 0, kNone}));
  // Ranks 1 to 3 send 10, 20, 30; rank 0 receives all 60: it needs every one. They enter at 7,
  // 3, 5.
  EXPECT_EQ(
      last_needed(irregular({{1, 0, 60}, {7, 10, 0}, {3, 20, 0}, {5, 30, 0}}), CallRule::kSupply),
      (Needed{1, kNone, kNone, kNone}));
  // Rank 0 sends 40 and receives 50, rank 1 and 2 send 30 each and receive 25 each. Rank 0 may have
  // kept its 40, so 10 came from the others at least, and the first of them, rank 2, has 30.
  EXPECT_EQ(last_needed(irregular({{1, 40, 50}, {7, 30, 25}, {3, 30, 25}}), CallRule::kSupply),
            (Needed{2, kNone, kNone}));
  // As before, but 75 received: 35 came from the others, more than the 30 of one.
  EXPECT_EQ(last_needed(irregular({{1, 40, 75}, {7, 30, 20}, {3, 30, 5}}), CallRule::kSupply),
            (Needed{1, kNone, kNone}));
  // The own 40 are counted once, also if the process enters in between (at 5).
  EXPECT_EQ(last_needed(irregular({{5, 40, 75}, {7, 30, 20}, {3, 30, 5}}), CallRule::kSupply),
            (Needed{1, kNone, kNone}));
  // Everybody sends 8 to everybody: each could have kept what it sent, nothing is certain.
  EXPECT_EQ(last_needed(irregular({{1, 24, 24}, {2, 24, 24}, {3, 24, 24}}), CallRule::kSupply),
            (Needed{kNone, kNone, kNone}));
  // Received is what nobody sent: the traces are damaged, nothing is concluded.
  EXPECT_EQ(last_needed(irregular({{1, 0, 50}, {2, 40, 0}}), CallRule::kSupply),
            (Needed{kNone, kNone}));
  const std::uint64_t huge = ~std::uint64_t{0} - 1;
  EXPECT_EQ(
      last_needed(irregular({{1, huge - 1, huge}, {2, huge, 0}, {3, huge, 0}}), CallRule::kSupply),
      (Needed{1, kNone, kNone}));
}

TEST(CallCauses, WhoSuppliesEntersBeforeTheyLeave) {
  // Rank 0 receives 75, for which rank 2 (at 3) and rank 1 (at 7) are needed besides its own 40;
  // rank 3 receives 10 and sends nothing: the first sender, rank 2, is enough. Exits: 8 and 4. So
  // rank 2 enters before 4, rank 1 before 8, and rank 0, which could supply rank 3 if it came
  // before, is bound by its own exit only.
  const auto members = irregular({{5, 40, 75}, {7, 30, 10}, {3, 30, 5}, {3.5, 0, 10}});
  EXPECT_EQ(last_needed(members, CallRule::kSupply), (Needed{1, kNone, kNone, 2}));
  EXPECT_EQ(latest_enters(members, CallRule::kSupply, {8, 20, 20, 4}),
            (std::vector<double>{8, 8, 4, kNever}));
}

TEST(CallCauses, AcrossGroupsOnlyTheOtherOneIsNeeded) {
  // Groups {0, 1} and {2, 3}. Of the second, rank 2 enters last (at 8) and rank 3 gives nothing; of
  // the first, rank 1 enters last (at 6), and takes nothing.
  const std::vector<CallMember> members{
      {0, 0, 3, true, true}, {1, 0, 6, true, false}, {2, 1, 8, true, true}, {3, 1, 9, false, true}};
  EXPECT_EQ(last_needed(members, CallRule::kAcross), (Needed{2, kNone, 1, 1}));
  // Exits 10, 7 | 11, 10.5: the first group may enter until 10.5, rank 2 until 10.
  EXPECT_EQ(latest_enters(members, CallRule::kAcross, {10, 7, 11, 10.5}),
            (std::vector<double>{10.5, 10.5, 10, kNever}));
}

TEST(CallCauses, AcrossGroupsNobodyKeepsItsOwn) {
  // Rank 0 gives 20 and takes 20, which it cannot have kept: rank 2 (entering at 4) gives 15, rank
  // 3 (at 7) gives 15, so it needs both. Rank 1 takes 10: rank 2 is enough. Ranks 2 and 3 take 10
  // each of rank 0, who alone gives something there.
  const std::vector<CallMember> members{{0, 0, 1, true, true, 20, 20},
                                        {1, 0, 9, false, true, 0, 10},
                                        {2, 1, 4, true, true, 15, 10},
                                        {3, 1, 7, true, true, 15, 10}};
  EXPECT_EQ(last_needed(members, CallRule::kAcrossSupply), (Needed{3, 2, 0, 0}));
  // Exits 10, 9.5 | 8, 8.5: rank 0 may enter until 8, rank 2 until 9.5, rank 3 until 10.
  EXPECT_EQ(latest_enters(members, CallRule::kAcrossSupply, {10, 9.5, 8, 8.5}),
            (std::vector<double>{8, kNever, 9.5, 10}));
}

TEST(CallCauses, NeighboursNeedEachOtherOnly) {
  // A line 0 - 1 - 2, rank 3 apart and its own neighbour. Rank 2 gives nothing.
  const std::vector<CallMember> members{
      {0, 0, 2, true, true}, {1, 0, 5, true, true}, {2, 0, 9, false, true}, {3, 0, 7, true, true}};
  const merge::CallNeighbours line{{1}, {0, 2}, {1}, {3}};
  EXPECT_EQ(last_needed(members, CallRule::kNear, line), (Needed{1, 0, 1, kNone}));
  // Exits 6, 8, 10, 7.5: rank 1 may enter until 6, when rank 0 leaves; rank 0 until 8.
  EXPECT_EQ(latest_enters(members, CallRule::kNear, {6, 8, 10, 7.5}, line),
            (std::vector<double>{8, 6, kNever, kNever}));
  // One who has not come is nobody's cause.
  EXPECT_EQ(last_needed(members, CallRule::kNear, {{1, kNone}, {kNone}, {1}, {3}}),
            (Needed{1, kNone, 1, kNone}));
}

TEST(CallCauses, NeighboursSupplyWhatOneReceives) {
  // Rank 0 is its own neighbour, and that of 1 (gives 10, entering at 6), 2 (10, at 4) and not of 3
  // (100, at 1). It gives 5 and takes 12: 7 of others, for which rank 2 is enough.
  std::vector<CallMember> members{{0, 0, 8, true, true, 5, 12},
                                  {1, 0, 6, true, false, 10, 0},
                                  {2, 0, 4, true, false, 10, 0},
                                  {3, 0, 1, true, false, 100, 0}};
  const merge::CallNeighbours near{{0, 1, 2}, {0}, {0}, {}};
  EXPECT_EQ(last_needed(members, CallRule::kNearSupply, near), (Needed{2, kNone, kNone, kNone}));
  EXPECT_EQ(latest_enters(members, CallRule::kNearSupply, {9, 9, 9, 9}, near),
            (std::vector<double>{kNever, kNever, 9, kNever}));
  // 15 with its own 5: still. 16: both. 26: more than they have, so the traces are damaged.
  members[0].got = 15;
  EXPECT_EQ(last_needed(members, CallRule::kNearSupply, near)[0], 2u);
  members[0].got = 16;
  EXPECT_EQ(last_needed(members, CallRule::kNearSupply, near)[0], 1u);
  EXPECT_EQ(latest_enters(members, CallRule::kNearSupply, {9, 9, 9, 9}, near),
            (std::vector<double>{kNever, 9, 9, kNever}));
  members[0].got = 26;
  EXPECT_EQ(last_needed(members, CallRule::kNearSupply, near)[0], kNone);
  members[0].got = 5;
  EXPECT_EQ(last_needed(members, CallRule::kNearSupply, near)[0], kNone) << "all may be its own";
}

merge::Summary merge_controlled(LocalRun& run) {
  merge::MergeOptions options = run.options();
  options.clock = merge::ClockCorrection::kControlled;
  return run.merge(options);
}
double exit_of(const LocalRun& run, std::uint32_t rank) {
  double time = -1;
  for (const auto& event : support::merged_events(run.merged)) {
    if (event.lid == rank && event.name == "MPI_COLLEXIT") time = event.time;
  }
  return time;
}

// The communicator's order is 2, 0, 1.
const char* const kOrder = R"(
MPI_GROUP gid=0 mode=0 count=3 ranks=[2,0,1]
MPI_COMM_REF cid=0 gid=0
COMM_IDENTITY cid=0 hi=1 lo=1 flags=0
)";

std::string call(std::uint32_t rank, const std::string& region, double enter, double exit, int sent,
                 int got) {
  const std::string lid = " lid=" + std::to_string(rank) + " time=";
  return kOrder + ("ENTER" + lid) + "0 region=main\nENTER" + lid + std::to_string(enter) +
         " region=" + region + "\nMPI_COLLEXIT" + lid + std::to_string(exit) +
         " rlid=absent cid=0 sent=" + std::to_string(sent) + " recvd=" + std::to_string(got) +
         "\nEXIT" + lid + "100\n";
}

TEST(CallCausesMerged, AScanUnderAClockThatIsBehind) {
  // Rank 1, the last of the communicator, has a clock that is 2 s behind: it leaves at 3, before
  // rank 0 enters at 4. Ranks 0 and 2 are right: rank 2, the first, leaves before all others enter.
  LocalRun run(3);
  run.add(0, call(0, "MPI_Scan", 4, 5, 8, 8));
  run.add(1, call(1, "MPI_Scan", 2, 3, 8, 8));
  run.add(2, call(2, "MPI_Scan", 1, 1.5, 8, 8));
  const merge::Summary summary = merge_controlled(run);
  // Rank 0 after rank 2, rank 1 after both: two last causes, of which one came too late by 1 s.
  EXPECT_EQ(summary.clocks->checked, 2u);
  EXPECT_EQ(summary.clocks->violations_before, 1u);
  EXPECT_EQ(summary.clocks->violations_after, 0u);
  EXPECT_NEAR(summary.clocks->worst_before, 1, 1e-12);
  EXPECT_NEAR(exit_of(run, 0), 5, 1e-8);
  EXPECT_NEAR(exit_of(run, 1), 4, 1e-8);
  EXPECT_NEAR(exit_of(run, 2), 1.5, 1e-8) << "the first of the communicator waits for nobody";
}

TEST(CallCausesMerged, AnExscanTakesNothingToTheFirst) {
  LocalRun run(3);
  run.add(0, call(0, "MPI_Exscan", 4, 5, 8, 8));
  run.add(1, call(1, "MPI_Exscan", 2, 6, 8, 8));
  run.add(2, call(2, "mpi_exscan_", 4.5, 4.75, 8, 0));
  const merge::Summary summary = merge_controlled(run);
  // Rank 2 enters at 4.5; rank 0 leaves at 5 and rank 1 at 6: all is right.
  EXPECT_EQ(summary.clocks->checked, 2u);
  EXPECT_EQ(summary.clocks->violations_before, 0u);
  EXPECT_EQ(summary.clocks->largest_shift, 0);
}

TEST(CallCausesMerged, AnAlltoallvThatIsAScatter) {
  // Rank 2 sends 10 to rank 0 and 20 to rank 1; rank 1's clock is 3 s behind, and it seems to leave
  // 2 s before rank 2 enters.
  LocalRun run(3);
  run.add(0, call(0, "MPI_Alltoallv", 1, 8, 0, 10));
  run.add(1, call(1, "MPI_Alltoallv", 2, 5, 0, 20));
  run.add(2, call(2, "MPI_Alltoallv", 7, 7.5, 30, 0));
  const merge::Summary summary = merge_controlled(run);
  EXPECT_EQ(summary.clocks->checked, 2u);
  EXPECT_EQ(summary.clocks->violations_before, 1u);
  EXPECT_EQ(summary.clocks->violations_after, 0u);
  EXPECT_EQ(summary.clocks->unchecked, 0u);
  EXPECT_NEAR(summary.clocks->worst_before, 2, 1e-12);
  EXPECT_NEAR(exit_of(run, 1), 7, 1e-8);
  EXPECT_NEAR(exit_of(run, 2), 7.5, 1e-8);
}

TEST(CallCausesMerged, AnAlltoallwWithoutOneOfItsMembersProvesNothing) {
  LocalRun run(3);
  run.add(0, call(0, "MPI_Alltoallw", 1, 8, 0, 10));
  run.add(1, call(1, "MPI_Alltoallw", 2, 5, 0, 20));
  const merge::Summary summary = merge_controlled(run);
  EXPECT_EQ(summary.clocks->checked, 0u);
  EXPECT_EQ(summary.clocks->unchecked, 2u);
  EXPECT_EQ(summary.clocks->largest_shift, 0);
}

TEST(CallCausesMerged, WhoContributesNothingIsWaitedForByNobody) {
  // MPI_Allgatherv: rank 1 gives nothing and enters after the others have left, which it may.
  LocalRun run(3);
  run.add(0, call(0, "MPI_Allgatherv", 1, 3, 8, 16));
  run.add(1, call(1, "MPI_Allgatherv", 4, 5, 0, 16));
  run.add(2, call(2, "MPI_Allgatherv", 2, 3.5, 8, 16));
  const merge::Summary summary = merge_controlled(run);
  EXPECT_EQ(summary.clocks->checked, 3u);
  EXPECT_EQ(summary.clocks->violations_before, 0u);
  EXPECT_EQ(summary.clocks->largest_shift, 0);
}

}  // namespace
}  // namespace kojak::test
