// Long because each run has its arithmetic beside it.
// Root causes of hand-made runs. Times are those of the scripts; the sums are in the comments.
#include <random>

#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

using Script = CauseScript;

constexpr double kNear = 1e-9;

// After a fence that ends at 2 the processes compute until 5, 5 and 8: two wait 3 s for the third.
TEST(RootCauses, WhoComputesLongerBeforeAFence) {
  Script s(3);
  s.fence({1, 1, 1}, 2);
  s.fence({5, 5, 8}, 9);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.causes.waits, 6, kNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  const RootCause& cause = found.causes.causes[0];
  EXPECT_EQ(cause.location, 2u);
  EXPECT_NEAR(cause.seconds, 6, kNear);
  EXPECT_NEAR(cause.longer, 3, kNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kNear);
  EXPECT_EQ(
      found.words[0],
      "rank 2 is outside of MPI 3.000 s longer in main, between MPI_Win_fence and MPI_Win_fence");
  // The path: any process to 2 (the last to enter the fence counts: all did at 1), then rank 2.
  EXPECT_NEAR(found.causes.path_length, 10, kNear);
  double on_path = 0, of_rank_2 = 0;
  for (const PathShare& share : found.causes.critical_path) {
    on_path += share.seconds;
    if (share.location == 2 && share.stretch.before != kNoCallPath &&
        share.stretch.after != kNoCallPath) {
      of_rank_2 += share.seconds;
      EXPECT_NEAR(share.imbalance, 6 - (3 + 3 + 6) / 3.0, kNear);  // 6 s of it, 4 on the average
    }
  }
  EXPECT_NEAR(on_path, 10, kNear);
  EXPECT_NEAR(of_rank_2, 6, kNear);
  // In the call tree it is a node below main, with 3, 3 and 6 s of main's time, of which 1 s before
  // the first and 1 s after the last fence are left. All time is 3 x 10 s, as before.
  const auto near = [](const std::vector<double>& values, std::vector<double> expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], kNear) << i;
  };
  ASSERT_EQ(found.nodes.size(), 2u);
  const Script::Found::Node& node = found.nodes.at("between MPI_Win_fence and MPI_Win_fence");
  EXPECT_EQ(node.parent, "main");
  near(node.time, {3, 3, 6});
  near(node.cost, {0, 0, 6});
  near(node.on_path, {0, 0, 6});
  near(found.nodes.at("main").time, {2, 2, 2});
  near(found.nodes.at("main").cost, {0, 0, 0});
  EXPECT_NEAR(found.time, 30, kNear);
}

// Who is late and had no processor may be late by the machine: the words say so from 5 % of its
// time on. Between readings at 1 and 9 rank 2 wanted one for 3.2 of 8 s, 40 %, and had none; at the
// boundary for 0.4 s, 5 %; below it for 0.39 s. That rank 0 had none is no matter here.
TEST(RootCauses, TheWordsSayWhoHadNoProcessor) {
  const auto effect = [](const std::string& wanted) {
    Script s(3);
    s.add(0, 1, "PROCESSOR", "ran=0 wanted=0 preempted=0");
    s.add(2, 1, "PROCESSOR", "ran=0 wanted=0 preempted=0");
    s.fence({1, 1, 1}, 2);
    s.fence({5, 5, 8}, 9);
    s.add(0, 9, "PROCESSOR", "ran=0 wanted=8000000000 preempted=0");
    s.add(2, 9, "PROCESSOR", "ran=0 wanted=" + wanted + " preempted=0");
    return s.analyse_until(10).effects.at(0);
  };
  const std::string before = "the others wait 6.000 s for it";
  const std::string late = effect("3200000000");
  EXPECT_TRUE(late.starts_with(before)) << late;
  EXPECT_TRUE(late.ends_with("; rank 2 had no processor for 40 % of its time")) << late;
  const std::string boundary = effect("400000000");
  EXPECT_TRUE(boundary.ends_with("; rank 2 had no processor for 5 % of its time")) << boundary;
  const std::string below = effect("390000000");
  EXPECT_TRUE(below.starts_with(before)) << below;
  EXPECT_EQ(below.find("processor"), std::string::npos) << below;
}

// What a call is to blame for stands at the call, and no computing has a node of its own.
TEST(RootCauses, OnlyComputingHasNodesOfItsOwn) {
  Script s(2);
  for (const int p : {0, 1}) s.add(p, 1, "ENTER", "region=MPI_Win_fence");
  s.add(1, 1.5, "MPI_WINCOLLEXIT", "wid=0");
  s.add(0, 3.5, "MPI_WINCOLLEXIT", "wid=0");
  s.fence({4.5, 2.5}, 5);
  const Script::Found found = s.analyse_until(6);
  EXPECT_EQ(found.nodes.size(), 1u);  // main
}

// Rank 0 is outside of MPI 2 s longer than all others; each sends on at once what it has received.
// Rank r waits from 1 to 3, whoever it is: all of it is for rank 0, by its neighbour alone
// directly.
TEST(RootCauses, AChainHasOneCause) {
  for (const int n : {2, 3, 6, 17, 64}) {
    Script s(n);
    for (int r = 1; r < n; ++r) s.message(r - 1, 3, r, 1, 3);
    const Script::Found found = s.analyse_until(4);
    EXPECT_NEAR(found.causes.waits, 2.0 * (n - 1), kNear) << n;
    EXPECT_NEAR(found.computing(0), 2.0 * (n - 1), kNear) << n;
    EXPECT_NEAR(found.long_term(0), 2.0 * (n - 2), kNear) << n;
    ASSERT_EQ(found.causes.causes.size(), 1u) << n;
    EXPECT_NEAR(found.causes.causes[0].longer, 2, kNear) << n;
    // The chain: rank n-1 waits for n-2, ... 1 for 0, each from 1 to 3 with its receive; rank 0
    // computes from the begin until its send at 3.
    const Chain& chain = found.causes.causes[0].chain;
    ASSERT_EQ(chain.links.size(), static_cast<std::size_t>(n - 1)) << n;
    EXPECT_EQ(chain.left_out, 0u);
    for (std::size_t k = 0; k < chain.links.size(); ++k) {
      const ChainLink& link = chain.links[k];
      EXPECT_EQ(link.waiter, static_cast<LocationIndex>(n) - 1 - k) << n;
      EXPECT_EQ(link.awaited, static_cast<LocationIndex>(n) - 2 - k) << n;
      EXPECT_EQ(all_metrics()[link.metric].name, "mpi_latesender");
      EXPECT_NEAR(link.begin, 1, kNear);
      EXPECT_NEAR(link.end, 3, kNear);
    }
    ASSERT_TRUE(chain.explained);
    EXPECT_EQ(chain.stretch.kind, Stretch::Kind::kComputing);
    EXPECT_NEAR(chain.begin, 0, kNear);
    EXPECT_NEAR(chain.end, 3, kNear);
    // All waits are alike, each an instance of its own: the chain of rank r's has r links.
    ASSERT_EQ(found.causes.asked.size(), found.worst);
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const Chain& asked : found.causes.asked) {
      ASSERT_FALSE(asked.links.empty());
      const LocationIndex first = asked.links.front().waiter;
      EXPECT_EQ(asked.links.size(), first) << n;
      EXPECT_EQ(asked.links.back().awaited, 0u) << n;
      EXPECT_TRUE(asked.explained);
      EXPECT_NEAR(asked.end, 3, kNear);
      seen[first] = true;
    }
    EXPECT_FALSE(seen[0]);
    EXPECT_GE(std::count(seen.begin(), seen.end(), true), std::min(n - 1, 10)) << n;
  }
}

// The words of chains: what all have in common once, of long ones the ends.
TEST(RootCauses, AChainInWords) {
  const auto words = [](int n) {
    Script s(n);
    for (int r = 1; r < n; ++r) s.message(r - 1, 3, r, 1, 3);
    return s.analyse_until(4).chains.at(0);
  };
  EXPECT_EQ(words(2), "");  // the sentence about the cause says it all
  EXPECT_EQ(words(3), "rank 2 waits for 1, 1 for 0, all in MPI_Recv; 0 is outside of MPI");
  EXPECT_EQ(words(7),
            "rank 6 waits for 5, 5 for 4, 4 for 3, 3 for 2, 2 for 1, 1 for 0, all in MPI_Recv; 0 "
            "is outside of MPI");
  EXPECT_EQ(words(8),
            "rank 7 waits for 6, 6 for 5, ... 3 more ..., 2 for 1, 1 for 0, all in MPI_Recv; 0 "
            "is outside of MPI");
  EXPECT_EQ(words(64),
            "rank 63 waits for 62, 62 for 61, ... 59 more ..., 2 for 1, 1 for 0, all in MPI_Recv; "
            "0 is outside of MPI");
}

// Causes stand before the metric tree and lead what is to be looked at first; victims follow. The
// instance of rank 2's wait tells its chain, that of rank 1's is none.
TEST(RootCauses, CausesComeBeforeVictims) {
  Script s(3);
  for (int r = 1; r < 3; ++r) s.message(r - 1, 3, r, 1, 3);
  const Script::Found found = s.analyse_until(4);
  const auto at = [&](const std::string& text) {
    const std::size_t place = found.summary.find(text);
    EXPECT_NE(place, std::string::npos) << text << " is not in\n" << found.summary;
    return place;
  };
  EXPECT_EQ(at("Root causes of 4.000 s of waiting\n   1  rank 0 is outside of MPI 2.000 s longer "
               "in main, "),
            0u);
  const std::size_t chain =
      at("Chain: rank 2 waits for 1, 1 for 0, all in MPI_Recv; 0 is outside of MPI.");
  const std::size_t tree = at("seconds     share  metric");
  const std::size_t first =
      at("What to look at first\n  rank 0 is outside of MPI 2.000 s longer in main, ");
  const std::size_t victims =
      at("Who waits:\n  Late Sender takes 33.3 % of the processes' time (4.000 s)");
  EXPECT_LT(chain, tree);
  EXPECT_LT(tree, first);
  EXPECT_LT(first, victims);
  const std::size_t of_rank_2 = found.instances.find("chain: rank 2 waits for 1, 1 for 0,");
  EXPECT_NE(of_rank_2, std::string::npos) << found.instances;
  EXPECT_EQ(found.instances.find("chain: ", of_rank_2 + 1), std::string::npos);
}

// Rank 1 comes 2 s late to a fence, rank 0 0.01 s late to the next one: 0.5 % of all waiting and
// less than 0.3 % of the run.
TEST(RootCauses, SmallCausesAreCountedOnly) {
  Script s(2);
  s.fence({1, 1}, 1);
  s.fence({1, 3}, 3);
  s.fence({3.01, 3}, 3.01);
  const Script::Found found = s.analyse_until(4);
  ASSERT_EQ(found.causes.causes.size(), 2u);
  EXPECT_NE(found.summary.find("   1  rank 1 is outside of MPI 2.000 s longer"), std::string::npos);
  EXPECT_EQ(found.summary.find("   2  rank 0"), std::string::npos) << found.summary;
  EXPECT_NE(found.summary.find("and 1 more (expert --json FILE lists them)"), std::string::npos)
      << found.summary;
}

// Rank 1 comes 2 s late to the second fence of a window whose creation the trace has; all goes on
// 1 s after that fence, so the run would be 2 s shorter.
TEST(RootCauses, AWindowIsNamedByWhereItWasCreated) {
  Script s(2);
  for (const int p : {0, 1}) {
    s.add(p, 0.5, "ENTER_CS", "region=MPI_Win_create site=\"/src/halo.c:12\"");
    s.add(p, 0.6, "MPI_WINCOLLEXIT", "wid=0");
  }
  s.fence({1, 1}, 2);
  s.fence({3, 5}, 6);
  const Script::Found found = s.analyse_until(7);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.effects[0],
            "the others wait 2.000 s for it on the window made at halo.c:12 (Wait at Fence 2.000 "
            "s); without it the run would take 2.000 s less");
}

// A chain through a message and a fence: rank 0 computes until 3, rank 1 waits [1, 3] for its
// message and comes to the fence at 3, where rank 2 waits [1, 3] for it (and for rank 0: each
// moment is shared by the two that are missing). Nobody else computes longer than rank 2, until 1.
TEST(RootCauses, AChainThroughSeveralKindsOfWaits) {
  Script s(3);
  s.message(0, 3, 1, 1, 3);
  s.fence({3, 3, 1}, 4);
  const Script::Found found = s.analyse_until(5);
  EXPECT_NEAR(found.causes.waits, 4, kNear);
  EXPECT_NEAR(found.computing(0), 2 + 2, kNear);
  // Directly: 2 s of rank 1's receive, and 1 s of rank 2's fence; the other half of this behind
  // rank 1.
  EXPECT_NEAR(found.long_term(0), 1, kNear);
  // Before the message it computed 3 s, 2 more than both; behind it nothing.
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(
      found.effects[0],
      "the others wait 4.000 s for it on communicator 0 and 1 other (Late Sender 2.000 s, "
      "Wait at Fence 1.000 s; 1.000 s passed on to others); without it the run would take 2.000 s "
      "less");  // all come to the fence at 1
  EXPECT_EQ(found.chains[0],
            "rank 2 waits for 1 in MPI_Win_fence, 1 for 0 in MPI_Recv; 0 is outside of MPI");
}

// Of two chains to one cause the heavier one counts. Rank 0 is 2 s late for ranks 1 and 4, behind
// rank 1 wait two more, behind rank 4 nobody: the way over rank 1 brings 6 s, the other one 2.
TEST(RootCauses, TheHeaviestChainCounts) {
  Script s(5);
  s.message(0, 3, 4, 1, 3);
  s.message(0, 3, 1, 1, 3);
  s.message(1, 3, 2, 1, 3);
  s.message(2, 3, 3, 1, 3);
  const Script::Found found = s.analyse_until(4);
  EXPECT_NEAR(found.computing(0), 8, kNear);
  EXPECT_EQ(found.chains.at(0),
            "rank 3 waits for 2, 2 for 1, 1 for 0, all in MPI_Recv; 0 is outside of MPI");
}

// Two chains of two that meet nowhere; each has its own.
TEST(RootCauses, ChainsAreNotMixed) {
  Script s(6);
  for (const int first : {0, 3}) {
    const double late = first == 0 ? 3 : 2.5;
    s.message(first, late, first + 1, 1, late);
    s.message(first + 1, late, first + 2, 1, late);
  }
  const Script::Found found = s.analyse_until(4);
  ASSERT_EQ(found.causes.causes.size(), 2u);
  EXPECT_EQ(found.chains[0], "rank 2 waits for 1, 1 for 0, all in MPI_Recv; 0 is outside of MPI");
  EXPECT_EQ(found.chains[1], "rank 5 waits for 4, 4 for 3, all in MPI_Recv; 3 is outside of MPI");
}

// Of more links than are kept those nearest to the cause are there: nobody counts less.
TEST(RootCauses, AVeryLongChainIsCut) {
  constexpr int kProcesses = 4200;
  Script s(kProcesses);
  for (int r = 1; r < kProcesses; ++r) s.message(r - 1, 3, r, 1, 3);
  const Script::Found found = s.analyse_until(4);
  const Chain& chain = found.causes.causes.at(0).chain;
  EXPECT_EQ(chain.links.size(), 4096u);
  EXPECT_EQ(chain.left_out, 4199u - 4096u);
  EXPECT_EQ(chain.links.back().awaited, 0u);
  EXPECT_EQ(found.chains[0],
            "... 4197 more ..., rank 2 waits for 1, 1 for 0, all in MPI_Recv; 0 is outside of MPI");
  // All of them wait 2 s for rank 0, and all end 2 s earlier without it.
  EXPECT_NEAR(found.computing(0), 2.0 * (kProcesses - 1), 1e-6);
  EXPECT_NEAR(found.gain(0), 2, kNear);
}

// Two causes: rank 0 is 2 s late for rank 1, which computes 1 s more before it sends to rank 2.
// Rank 1 waits [1, 3], rank 2 [1, 4]: 2 of its 3 s because rank 1 waited, 1 because it computed.
TEST(RootCauses, TwoCausesInAChain) {
  Script s(3);
  s.message(0, 3, 1, 1, 3);
  s.message(1, 4, 2, 1, 4);
  const Script::Found found = s.analyse_until(5);
  EXPECT_NEAR(found.computing(0), 2 + 2, kNear);
  EXPECT_NEAR(found.computing(1), 1, kNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kNear);
}

// Rank 0 waits from 1 on; the others come at 4, a microsecond and another one later. Each moment is
// shared by who is missing: about 1 s each, not 3 s for the last one.
TEST(RootCauses, SeveralLateOnesShare) {
  Script s(4);
  s.barrier({1, 4, 4.000001, 4.000002}, 5);
  const Script::Found found = s.analyse_until(6);
  for (const LocationIndex late : {1, 2, 3}) EXPECT_NEAR(found.computing(late), 1, 1e-5);
}

// Enters 1, 2, 4: [1, 2] is shared by two, [2, 4] is the last one's. Rank 0 waits 3 s, 0.5 of it
// for rank 1 and 2.5 for rank 2; rank 1 waits 2 s for rank 2.
TEST(RootCauses, SharesAreOfMoments) {
  Script s(3);
  s.barrier({1, 2, 4}, 5);
  const Script::Found found = s.analyse_until(6);
  EXPECT_NEAR(found.computing(1), 0.5, kNear);
  EXPECT_NEAR(found.computing(2), 2.5 + 2, kNear);
}

// Rank 1's first event is at 3: before that it has done nothing that the trace tells. It comes to
// the barrier at 3.5, rank 0 waits for it from 1 on: 2.5 s, all for the late start, since rank 1
// then computes less than rank 0.
TEST(RootCauses, ALateStart) {
  Script s(1);
  s.add(1, 3, "ENTER", "region=main");
  s.barrier({1, 3.5}, 4);
  s.add(1, 6, "EXIT");
  const Script::Found found = s.analyse_until(6);
  EXPECT_NEAR(found.causes.waits, 2.5, kNear);
  EXPECT_NEAR(found.of(1, Stretch::Kind::kBeforeRecording), 2.5, kNear);
  EXPECT_EQ(found.words[0], "rank 1 starts 3.000 s later");
}

// Ranks 0 and 1 both wait 1 s for rank 2. Rank 1 then is outside of MPI 0.1 s longer: rank 0 waits
// 0.1 s for it, and rank 2 has nothing to do with that.
TEST(RootCauses, WaitingAlikeIsNoDelay) {
  Script s(3);
  s.message(2, 2, 0, 1, 2);
  s.message(2, 2, 1, 1, 2);
  s.message(1, 3.1, 0, 3, 3.1);
  const Script::Found found = s.analyse_until(4);
  EXPECT_NEAR(found.computing(1), 0.1, kNear);
  EXPECT_NEAR(found.computing(2), 2, kNear);
}

// Between fences rank 1 computes 1 s, asks for its rank, computes 1.5 s; rank 0 computes 2 s in one
// piece. Function by function that is 0.5 s longer, and not two stretches that rank 0 does not
// have.
TEST(RootCauses, AnExtraCallCutsNoComputing) {
  Script s(2);
  s.fence({1, 1}, 2);
  s.call(1, 3, 3, "MPI_Comm_rank");
  s.fence({4, 4.5}, 5);
  const Script::Found found = s.analyse_until(6);
  EXPECT_NEAR(found.causes.waits, 0.5, kNear);
  EXPECT_NEAR(found.computing(1), 0.5, kNear);
  ASSERT_EQ(found.causes.causes.size(), 2u);
  // In the ratio of what each stretch is longer: 1 to 1.5.
  EXPECT_NEAR(found.causes.causes[0].longer, 0.3, kNear);
  EXPECT_NEAR(found.causes.causes[1].longer, 0.2, kNear);
}

// By turns each is outside of MPI 1 s longer than the other: each makes the other wait 1 s in its
// turns.
TEST(RootCauses, AlternatingSlowOnes) {
  Script s(2);
  s.fence({1, 1}, 1);
  for (int i = 0; i < 10; ++i) {
    const double t = 1 + 3 * i;
    s.fence({i % 2 == 0 ? t + 3 : t + 2, i % 2 == 0 ? t + 2 : t + 3}, t + 3);
  }
  const Script::Found found = s.analyse_until(40);
  EXPECT_NEAR(found.computing(0), 5, kNear);
  EXPECT_NEAR(found.computing(1), 5, kNear);
}

// The path goes to and fro, a second on each. Only its last parts are kept, and the earliest of
// them begins where it does, though the path comes back to its process.
TEST(RootCauses, OfALongPathTheLastPartsAreKept) {
  constexpr int kMore = 60;
  constexpr int kPhases = static_cast<int>(kPathParts) + kMore;
  Script s(2);
  for (int i = 0; i < kPhases; ++i) {
    s.barrier({i % 2 == 0 ? i + 1.0 : i + 0.5, i % 2 == 0 ? i + 0.5 : i + 1.0}, i + 1.0);
  }
  const Script::Found found = s.analyse_until(kPhases);
  const std::vector<PathPart>& parts = found.causes.path_parts;
  ASSERT_EQ(parts.size(), kPathParts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto begin = static_cast<double>(i + kMore);
    ASSERT_NEAR(parts[i].begin, begin, kNear);
    ASSERT_NEAR(parts[i].end, begin + 1, kNear);
    ASSERT_EQ(parts[i].location, i % 2);
  }
}

// Rank 0 leaves a fence 2 s after the others and comes to the next one 2 s later: the time in the
// call is to blame, not its computing.
TEST(RootCauses, AFenceThatIsLeftLate) {
  Script s(2);
  for (const int p : {0, 1}) s.add(p, 1, "ENTER", "region=MPI_Win_fence");
  s.add(1, 1.5, "MPI_WINCOLLEXIT", "wid=0");
  s.add(0, 3.5, "MPI_WINCOLLEXIT", "wid=0");
  s.fence({4.5, 2.5}, 5);
  const Script::Found found = s.analyse_until(6);
  EXPECT_NEAR(found.causes.waits, 2, kNear);
  EXPECT_NEAR(found.of(0, Stretch::Kind::kCall), 2, kNear);
}

// The root sends its data to a leaf that comes at 5 only; the others have theirs at 2. Then a
// fence: they wait for the late leaf [3, 6], which computed until 5 - not for the root.
TEST(RootCauses, ALateLeafOfABroadcastAndThenAFence) {
  Script s(3);
  for (const auto& [p, enter, exit] :
       std::vector<std::tuple<int, double, double>>{{0, 1, 2}, {1, 1, 2}, {2, 5, 5}}) {
    s.add(p, enter, "ENTER", "region=MPI_Bcast");
    s.add(p, exit, "MPI_COLLEXIT", "rlid=0 sent=8 recvd=8");
  }
  s.fence({3, 3, 6}, 7);
  const Script::Found found = s.analyse_until(8);
  EXPECT_NEAR(found.causes.waits, 6, kNear);
  // Both waited 3 s. They computed 2 s (0 to 1, 2 to 3) and were 1 s in MPI_Bcast; the leaf
  // computed 6 s, 4 more: all that is later is computing.
  EXPECT_NEAR(found.computing(2), 6, kNear);
}

// The leaf's call [1, 5] ends before the root's begins, at 6, as clocks that differ have it: it
// waited 4 s of its call, for what the root did until 6. The root computed from 0 to 6 and the leaf
// from 0 to 1.
TEST(RootCauses, ACallThatEndsBeforeWhatItWaitedFor) {
  Script s(2);
  for (const auto& [p, enter, exit] :
       std::vector<std::tuple<int, double, double>>{{0, 6, 7}, {1, 1, 5}}) {
    s.add(p, enter, "ENTER", "region=MPI_Bcast");
    s.add(p, exit, "MPI_COLLEXIT", "rlid=0 sent=8 recvd=8");
  }
  const Script::Found found = s.analyse_until(8);
  EXPECT_NEAR(found.causes.waits, 4, kNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 0u);
  EXPECT_NEAR(found.causes.causes[0].seconds, 4, kNear);
  EXPECT_NEAR(found.causes.causes[0].longer, 5, kNear);
}

// A server answers one request after the other: rank 1 asks at 1 and has its answer at 3, rank 2
// asks at 1, too, and has it at 5. The server computes 2 s for each: rank 1 waits 2 s, rank 2 4 s.
TEST(RootCauses, ABusyServer) {
  Script s(3);
  s.message(1, 1, 0, 1, 1);
  s.message(2, 1, 0, 1, 1);
  s.message(0, 3, 1, 1, 3);
  s.message(0, 5, 2, 1, 5);
  const Script::Found found = s.analyse_until(6);
  EXPECT_NEAR(found.causes.waits, 6, kNear);
  EXPECT_NEAR(found.computing(0), 6, kNear);
}

// Rank 0 holds the lock of rank 2's window from 1 to 6 and computes with it; rank 1 asks at 2 and
// waits until 6. Then rank 1 computes 1.5 s, rank 0 0.5 s, and rank 0 waits 1 s for a message of
// rank 1. Since 6 both are level: the 1 s is rank 1's computing, and not passed on to the lock.
TEST(RootCauses, ALockHandedOverAndThenAMessage) {
  Script s(3);
  s.lock(0, 1, 1, 2, true);
  s.unlock(0, 6, 2);
  s.lock(1, 2, 6, 2, true);
  s.unlock(1, 7, 2);
  s.message(1, 7.5, 0, 6.5, 7.5);
  const Script::Found found = s.analyse_until(20);
  EXPECT_NEAR(found.causes.waits, 4 + 1, kNear);
  EXPECT_NEAR(found.computing(0), 4, kNear);  // while it held the lock
  EXPECT_NEAR(found.computing(1), 1, kNear);
  const auto direct = std::find_if(found.causes.causes.begin(), found.causes.causes.end(),
                                   [](const RootCause& c) { return !c.compared; });
  ASSERT_NE(direct, found.causes.causes.end());
  EXPECT_NEAR(direct->longer, 4, kNear);
}

// The target waits [2, 10] in MPI_Win_wait. The origin's last transfer ends at 5; then it computes
// until it completes at 8. From 5 to 8 nothing but that computing makes the target wait: 3 s.
// Before, the two are compared: until 5 the origin computed 4 s and put 1 s, the target computed 2
// s: of the 3 s it was late, 2 are computing and 1 is the put.
TEST(RootCauses, AnOriginThatCompletesLate) {
  Script s(2);
  s.epoch_call(0, 0, 0, "MPI_Win_post", 1, false);
  s.epoch_call(1, 0, 0, "MPI_Win_start", 0, false);
  s.put(1, 4, 5, 0);
  s.epoch_call(1, 8, 8, "MPI_Win_complete", 0, true);
  s.add(0, 8, "MPI_PUT_1TE", "slid=1 wid=0 rmaid=0 recvd=8");
  s.epoch_call(0, 2, 8, "MPI_Win_wait", 1, true);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.causes.waits, 6, kNear);
  EXPECT_NEAR(found.computing(1), 3 + 2, kNear);
  EXPECT_NEAR(found.of(1, Stretch::Kind::kCall), 1, kNear);
}

// The target computes from 0 to 5 outside MPI; the origin's flush [2, 5] needs it: 3 s, all of it
// for what the target computed at that time. (It put something before and locked without waiting.)
TEST(RootCauses, ATargetThatComputes) {
  Script s(2);
  s.lock(0, 1, 1, 1, false);
  s.put(0, 1.5, 1.75, 1);
  s.call(1, 5, 5.25, "MPI_Iprobe");
  s.add(1, 6, "MPI_PUT_1TE", "slid=0 wid=0 rmaid=0 recvd=8");
  s.call(0, 2, 6, "MPI_Win_flush", {{6, "MPI_WIN_FLUSH", "tlid=1 wid=0 local=0"}});
  s.unlock(0, 6.5, 1);
  const Script::Found found = s.analyse_until(7);
  EXPECT_NEAR(found.causes.waits, 3, kNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.computing(1), 3, kNear);
  EXPECT_EQ(found.words[0], "rank 1 is outside of MPI 3.000 s in main, before MPI_Iprobe");
}

// A barrier in a function that the fence calls back: process 0 waits from 1 on in the fence, which
// 1 enters at 5, and from 2 to 6 in the barrier within it. The fence's own wait is the second
// before the barrier; all 5 s are counted, and are 1's: 4 s of computing and 1 s in its fence.
TEST(RootCauses, AWaitOfACallWithinACallThatWaits) {
  Script s(2);
  s.fence({0.5, 0.5}, 0.5);
  s.add(0, 1, "ENTER", "region=MPI_Win_fence");
  s.add(1, 5, "ENTER", "region=MPI_Win_fence");
  s.barrier({2, 6}, 6);
  s.add(0, 7, "MPI_WINCOLLEXIT", "wid=0");
  s.add(1, 7, "MPI_WINCOLLEXIT", "wid=0");
  const Script::Found found = s.analyse_until(8);
  EXPECT_NEAR(found.causes.waits, 1 + 4, kNear);
  EXPECT_NEAR(found.computing(1), 4, kNear);
  EXPECT_NEAR(found.of(1, Stretch::Kind::kCall), 1, kNear);
}

TEST(RootCauses, WhereNobodyWaitsThereAreNone) {
  Script s(3);
  s.fence({1, 1, 1}, 2);
  s.barrier({3, 3, 3}, 3);
  const Script::Found found = s.analyse_until(4);
  EXPECT_EQ(found.causes.waits, 0);
  EXPECT_TRUE(found.causes.causes.empty());
  EXPECT_NEAR(found.causes.path_length, 4, kNear);
}

// Run time 10. Rank 0 computes 1 + 7 + 1 s, is 1 s in the barrier (from 8 to 9: nobody is later).
// Rank 1 computes 1 + 3 + 1 s and waits 4 s there. Between them a barrier that takes both no time.
// Load balance (9 + 5) / 2 / 9, communication 9 / 10, of which nothing is waiting.
TEST(Efficiencies, OfAnUnevenRun) {
  Script s(2);
  s.barrier({1, 1}, 1);
  s.barrier({8, 4}, 9);
  const Script::Found found = s.analyse_until(10);
  ASSERT_TRUE(found.efficiency);
  EXPECT_NEAR(found.efficiency->run_time, 10, kNear);
  EXPECT_NEAR(found.efficiency->load_balance, 7.0 / 9, kNear);
  EXPECT_NEAR(found.efficiency->serialisation, 1, kNear);
  EXPECT_NEAR(found.efficiency->transfer, 0.9, kNear);
  EXPECT_NEAR(found.efficiency->parallel(), (9 + 5) / 20.0, kNear);
}

// 7 s of MPI_Init, 8.5 of MPI_Finalize and the measurement's half second belong to neither side.
// Between them rank 0 computes 4 s, and rank 1 computes 2 and waits 2: parallel 3 / 4.
TEST(Efficiencies, WithoutStartAndEnd) {
  Script s(2);
  for (int p : {0, 1}) {
    s.call(p, 0, 7, "MPI_Init");
    s.add(p, 7, "ENTER_TRACING");
    s.add(p, 7.5, "EXIT_TRACING");
  }
  s.barrier({11.5, 9.5}, 11.5);
  for (int p : {0, 1}) s.call(p, 11.5, 20, "MPI_Finalize");
  const Script::Found found = s.analyse_until(20);
  ASSERT_TRUE(found.efficiency);
  EXPECT_NEAR(found.efficiency->run_time, 4, kNear);
  EXPECT_NEAR(found.efficiency->load_balance, 3.0 / 4, kNear);
  EXPECT_NEAR(found.efficiency->communication(), 1, kNear);
  EXPECT_NEAR(found.efficiency->parallel(), 3.0 / 4, kNear);
}

// By turns: each computes 3 s while the other waits. Each computes 1 + 3 + 1 of 8 s and waits 3.
TEST(Efficiencies, OfARunByTurns) {
  Script s(2);
  s.barrier({4, 1}, 4);
  s.barrier({4, 7}, 7);
  const Script::Found found = s.analyse_until(8);
  ASSERT_TRUE(found.efficiency);
  EXPECT_NEAR(found.efficiency->load_balance, 1, kNear);
  EXPECT_NEAR(found.efficiency->serialisation, 5.0 / 8, kNear);
  EXPECT_NEAR(found.efficiency->transfer, 1, kNear);
  EXPECT_NEAR(found.efficiency->communication(), 5.0 / 8, kNear);
}

// Waits below a microsecond have no cause, but are not forgotten.
TEST(RootCauses, ShortWaitsAreNotExplained) {
  Script s(2);
  s.barrier({1, 1.0000005}, 2);
  const Script::Found found = s.analyse_until(3);
  EXPECT_NEAR(found.causes.waits, 5e-7, 1e-12);
  EXPECT_NEAR(found.causes.unexplained, 5e-7, 1e-12);
}

// Phases between barriers in which each process computes a known time, the same function: the cost
// of each process's phase is what the others wait for it, moment by moment, shared by the missing.
TEST(RootCauses, RandomPhases) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const int n = 2 + static_cast<int>(random() % 7), phases = 1 + static_cast<int>(random() % 9);
    Script s(n);
    std::vector<double> cost(static_cast<std::size_t>(n), 0);
    double time = 0, waits = 0;
    for (int phase = 0; phase < phases; ++phase) {
      std::vector<double> enters;
      for (int p = 0; p < n; ++p) {
        enters.push_back(time + 0.001 + static_cast<double>(random() % 1000) / 1000);
      }
      const double last = *std::max_element(enters.begin(), enters.end());
      std::vector<double> sorted = enters;
      std::sort(sorted.begin(), sorted.end());
      for (int late = 0; late < n; ++late) {
        for (int early = 0; early < n; ++early) {
          double from = enters[static_cast<std::size_t>(early)];
          // Up to each arrival behind it, by who is missing then.
          for (const double until : sorted) {
            if (until <= from) continue;
            const auto missing =
                std::count_if(enters.begin(), enters.end(), [&](double e) { return e >= until; });
            if (enters[static_cast<std::size_t>(late)] >= until) {
              cost[static_cast<std::size_t>(late)] += (until - from) / static_cast<double>(missing);
            }
            from = until;
          }
        }
      }
      for (const double e : enters) waits += last - e;
      s.barrier(enters, last);
      time = last;
    }
    const Script::Found found = s.analyse_until(time + 1);
    EXPECT_NEAR(found.causes.waits, waits, 1e-6) << "seed " << seed;
    for (int p = 0; p < n; ++p) {
      EXPECT_NEAR(found.computing(static_cast<LocationIndex>(p)), cost[static_cast<std::size_t>(p)],
                  1e-6)
          << "seed " << seed << " process " << p;
    }
    EXPECT_NEAR(found.causes.unexplained, 0, 1e-6) << "seed " << seed;
  }
}

// Rank 1 computes [0, 10] and [10, 12], between two sends each. Rank 0 waits 5 s of the first one
// and 0.1 s of the second; rank 2, which computes 7 s, 5 s of both together. That is no more than
// rank 0 has waited for already: 5.1 s longer, and not 5 more.
TEST(RootCauses, TimesThatOverlapCountOnce) {
  Script s(3);
  s.message(1, 0, 0, 0, 0);
  s.message(1, 10, 0, 5, 10);
  s.message(1, 12, 0, 11.9, 12);
  s.message(1, 12, 2, 7, 12);
  const Script::Found found = s.analyse_until(13);
  EXPECT_NEAR(found.computing(1), 5 + 0.1 + 5, kNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.causes.causes[0].longer, 5.1, kNear);
}

// The other way round: rank 2 waits from 1 to 12, for 11 s: 5.9 more than were counted.
TEST(RootCauses, TheLongestOfOverlappingTimesCounts) {
  Script s(3);
  s.message(1, 0, 0, 0, 0);
  s.message(1, 10, 0, 5, 10);
  s.message(1, 12, 0, 11.9, 12);
  s.message(1, 12, 2, 1, 12);
  const Script::Found found = s.analyse_until(13);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.causes.causes[0].longer, 11, kNear);
}

// ---- more waits than can be numbered

// Three messages, for each of which rank 1 waits 1 s while rank 0 computes: [1, 2], [3, 4], [5, 6].
constexpr double kThreeMessages[] = {1, 3, 5};

// Only two waits have a number. The third is told when rank 1 has left its receive at 6: what both
// did ends there, the third second has no cause, and the report says from when on.
TEST(NumberOfWaits, WhatCannotBeNumberedIsLeftOutAndSaid) {
  Script s(2);
  for (const double t : kThreeMessages) s.message(0, t + 1, 1, t, t + 1);
  s.number_at_most(2);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.causes.waits, 3, kNear);
  EXPECT_NEAR(found.computing(0), 2, kNear);
  EXPECT_NEAR(found.causes.unexplained, 1, kNear);
  ASSERT_TRUE(found.causes.until);
  EXPECT_NEAR(*found.causes.until, 6, kNear);
  EXPECT_NEAR(found.causes.path_length, 6, kNear);
  EXPECT_EQ(found.findings, std::vector<std::string>{"root causes end at 6.000000 s"});
}

// With a number for each nothing is left out, and nothing is said.
TEST(NumberOfWaits, ExactlyAsManyAsThereAre) {
  Script s(2);
  for (const double t : kThreeMessages) s.message(0, t + 1, 1, t, t + 1);
  s.number_at_most(3);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.computing(0), 3, kNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kNear);
  EXPECT_FALSE(found.causes.until);
  EXPECT_NEAR(found.causes.path_length, 10, kNear);
  EXPECT_TRUE(found.findings.empty());
}

// Fences are numbered, too, whether anybody waits in them or not: here nobody does until the third,
// at which both wait 2 s, [6, 8], for rank 0. Its fences at 1 and 3 are all that have a number.
TEST(NumberOfWaits, OperationsInWhichNobodyWaits) {
  Script s(3);
  s.fence({1, 1, 1}, 2);
  s.fence({3, 3, 3}, 4);
  s.fence({8, 6, 6}, 8);
  s.number_at_most(2);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.causes.waits, 4, kNear);
  EXPECT_NEAR(found.causes.unexplained, 4, kNear);
  EXPECT_TRUE(found.causes.until);
  EXPECT_EQ(found.findings.size(), 1u);
}

// What calls depend on is numbered, too, whether anybody waits for it or not: nobody waits in the
// first three receives, since the messages were sent 1 s earlier; in the fourth one rank 1 waits
// from 7 to 9.
TEST(NumberOfWaits, DependenciesOnWhichNobodyWaits) {
  for (const std::size_t most : {2, 4}) {
    Script s(2);
    for (const double sent : {1, 3, 5}) s.message(0, sent, 1, sent + 1, sent + 1.25);
    s.message(0, 9, 1, 7, 9);
    s.number_at_most(most);
    const Script::Found found = s.analyse_until(10);
    EXPECT_NEAR(found.causes.waits, 2, kNear) << most;
    EXPECT_NEAR(found.causes.unexplained, most == 2 ? 2 : 0, kNear) << most;
    EXPECT_NEAR(found.computing(0), most == 2 ? 0 : 2, kNear) << most;
    ASSERT_EQ(found.causes.until.has_value(), most == 2) << most;
    if (most != 2) continue;
    EXPECT_GE(*found.causes.until, 6);  // in the third receive, of which it is told when it ends
    EXPECT_LE(*found.causes.until, 6.25);
  }
}

}  // namespace
}  // namespace kojak::expert
