// What waits were for, and what the run would gain without a cause: hand-made runs, with their sums
// in the comments.
#include <random>

#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

using Script = CauseScript;

constexpr double kNear = 1e-9;

// ---- what waits were for

// In a chain rank 1 waits for what rank 0 computes, all others for one that waits itself.
TEST(WaitsFor, OthersWaitsInAChain) {
  Script s(4);
  for (int r = 1; r < 4; ++r) s.message(r - 1, 3, r, 1, 3);
  const Script::Found found = s.analyse_until(4);
  EXPECT_NEAR(found.direct(1), 2, kNear);
  EXPECT_NEAR(found.indirect(1), 0, kNear);
  for (const LocationIndex r : {2, 3}) {
    EXPECT_NEAR(found.direct(r), 0, kNear);
    EXPECT_NEAR(found.indirect(r), 2, kNear);
  }
}

// Rank 1 waits [1, 3] for rank 0 and computes 1 s; of the 3 s [1, 4] that rank 2 waits for it 2 are
// for that wait.
TEST(WaitsFor, ComputingAndAWait) {
  Script s(3);
  s.message(0, 3, 1, 1, 3);
  s.message(1, 4, 2, 1, 4);
  const Script::Found found = s.analyse_until(5);
  EXPECT_NEAR(found.direct(1), 2, kNear);
  EXPECT_NEAR(found.direct(2), 1, kNear);
  EXPECT_NEAR(found.indirect(2), 2, kNear);
}

// Rank 2 waits [1, 3] for a message of rank 0. Then a barrier: ranks 0, 1, 2 come at 3, 1, 3.5.
// Rank 0 waits 0.5 s for rank 2, with which it was level at 3: for what that computed since. Of
// the 2.5 s of rank 1 1 s is for rank 0 ([1, 3], shared with rank 2), which computed 2 s longer,
// and 1.5 s for rank 2, which is later by 2.5 s: by 0.5 s of computing and 2 s of waiting. So 1.5 *
// 2 / 2.5 = 1.2 s are for a wait.
TEST(WaitsFor, AGroupsLateOnes) {
  Script s(3);
  s.message(0, 3, 2, 1, 3);
  s.barrier({3, 1, 3.5}, 3.5);
  const Script::Found found = s.analyse_until(4);
  EXPECT_NEAR(found.direct(0), 0.5, kNear);
  EXPECT_NEAR(found.indirect(0), 0, kNear);
  EXPECT_NEAR(found.direct(1), 1.3, kNear);
  EXPECT_NEAR(found.indirect(1), 1.2, kNear);
}

// ---- what the run would gain

// After a fence at 1 the processes compute until 5, 5 and 8; they end 2 s after the fence. Without
// the 3 s that the third computes longer all are there at 5.
TEST(Gains, OfOneSlowProcess) {
  Script s(3);
  s.fence({1, 1, 1}, 2);
  s.fence({5, 5, 8}, 8);
  const Script::Found found = s.analyse_until(10);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_NEAR(found.gain(2), 3, kNear);
}

// Two are late by 3 s at the same time: without one of them the others still wait for the other.
TEST(Gains, OfTwoWhoAreLateAlike) {
  Script s(3);
  s.barrier({1, 4, 4}, 4);
  const Script::Found found = s.analyse_until(5);
  EXPECT_NEAR(found.computing(1), 1.5, kNear);
  EXPECT_NEAR(found.gain(1), 0, kNear);
  EXPECT_NEAR(found.gain(2), 0, kNear);
}

// Enters 1, 4, 6: without the last one's 5 s the next one comes at 4: 2 s are gained. Without the
// 3 s of the second nothing is.
TEST(Gains, EndWhereTheNextOneIsLate) {
  Script s(3);
  s.barrier({1, 4, 6}, 6);
  const Script::Found found = s.analyse_until(7);
  EXPECT_NEAR(found.gain(1), 0, kNear);
  EXPECT_NEAR(found.gain(2), 2, kNear);
  // Ranked by what they gain.
  EXPECT_EQ(found.causes.causes[0].location, 2u);
}

// By turns each computes 1 s longer, 5 times: without it the run takes 5 s less, whoever it is.
TEST(Gains, OfAlternatingSlowOnes) {
  Script s(2);
  s.fence({1, 1}, 1);
  for (int i = 0; i < 10; ++i) {
    const double t = 1 + 3 * i;
    s.fence({i % 2 == 0 ? t + 3 : t + 2, i % 2 == 0 ? t + 2 : t + 3}, t + 3);
  }
  const Script::Found found = s.analyse_until(40);
  EXPECT_NEAR(found.gain(0), 5, kNear);
  EXPECT_NEAR(found.gain(1), 5, kNear);
}

// Rank 0 computes 2 s longer than all others, each sends on what it has received: all end 2 s
// earlier.
TEST(Gains, OfAChain) {
  for (const int n : {2, 3, 6, 17, 64}) {
    Script s(n);
    for (int r = 1; r < n; ++r) s.message(r - 1, 3, r, 1, 3);
    const Script::Found found = s.analyse_until(4);
    EXPECT_NEAR(found.gain(0), 2, kNear) << n;
  }
}

// Rank 1 waits from 1 to 3 for a message of rank 2 and then, as rank 2 does, in the barrier for
// rank 0, which computes until 9: from 3 to 9 each. What rank 2 computes longer costs 2 s and gains
// nothing. Rank 0 computes 9 s, they 2 s on the average: without the 7 s it comes at 2, and the
// barrier ends at 3 instead of 9.
TEST(Gains, OfWorkBesideTheCriticalPath) {
  Script s(3);
  s.message(2, 3, 1, 1, 3);
  s.barrier({9, 3, 3}, 9);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.computing(2), 2, kNear);
  EXPECT_NEAR(found.gain(2), 0, kNear);
  EXPECT_NEAR(found.gain(0), 6, kNear);
  EXPECT_EQ(found.causes.causes[0].location, 0u);
}

// Rank 1 waits from 1 to 4 for rank 0, which computes until 4, receives at 4 what rank 2 has sent
// at 3, without waiting, and sends at once. Without the 3 s it would wait for rank 2 until 3: 1 s
// is gained. All meet at 6, when rank 1 comes, the others wait since 4.
TEST(Gains, NewWaitsAppear) {
  Script s(3);
  s.message(2, 3, 0, 4, 4);
  s.message(0, 4, 1, 1, 4);
  s.barrier({4, 6, 3}, 6);
  const Script::Found found = s.analyse_until(7);
  EXPECT_NEAR(found.gain(0), 1, kNear);
}

// The same with a post that was early enough: the target posts at 3, the origin starts at 4 and
// completes at 5; the target waits for it from 3 on. Without what the origin computes longer it
// would wait for the post.
TEST(Gains, EndAtAPostThatCameInTime) {
  Script s(2);
  s.add(0, 3, "ENTER", "region=MPI_Win_post");
  s.add(0, 3, "MPI_WINEXIT", "wid=0 group=[1] synex=0");
  s.add(1, 4, "ENTER", "region=MPI_Win_start");
  s.add(1, 4, "MPI_WINEXIT", "wid=0 group=[0] synex=0");
  s.add(0, 3, "ENTER", "region=MPI_Win_wait");
  s.add(1, 5, "ENTER", "region=MPI_Win_complete");
  s.add(1, 5, "MPI_WINEXIT", "wid=0 group=[0] synex=1");
  s.add(0, 5, "MPI_WINEXIT", "wid=0 group=[1] synex=1");
  const Script::Found found = s.analyse_until(6);
  // Rank 1 computes [0, 4] and [4, 5], 5 s, the target 3 s: 2 s longer, all of it gained as long as
  // start does not have to wait: [0, 4] loses 1.6 s and 0.6 s of them are a wait for the post at 3.
  double before = 0, within = 0;
  for (const RootCause& c : found.causes.causes) {
    ASSERT_EQ(c.location, 1u);
    (c.stretch.before == kNoCallPath ? before : within) = *c.gain;
  }
  EXPECT_NEAR(before, 1, kNear);
  EXPECT_NEAR(within, 0.4, kNear);
}

// Rank 0 computes 4 s while it holds a lock for which rank 1 waits. Without it rank 1 has the lock
// at 2, when it asks; both meet in the barrier 3 s after that.
TEST(Gains, OfALocksHolder) {
  Script s(3);
  s.add(0, 1, "ENTER", "region=MPI_Win_lock");
  s.add(0, 1, "MPI_WIN_LOCK", "llid=2 wid=0 ltype=1");
  s.add(0, 1, "EXIT");
  s.add(1, 2, "ENTER", "region=MPI_Win_lock");
  s.add(0, 6, "ENTER", "region=MPI_Win_unlock");
  s.add(0, 6, "MPI_WIN_UNLOCK", "llid=2 wid=0");
  s.add(0, 6, "EXIT");
  s.add(1, 6, "MPI_WIN_LOCK", "llid=2 wid=0 ltype=1");
  s.add(1, 6, "EXIT");
  s.add(1, 7, "ENTER", "region=MPI_Win_unlock");
  s.add(1, 7, "MPI_WIN_UNLOCK", "llid=2 wid=0");
  s.add(1, 7, "EXIT");
  s.barrier({9, 9, 1}, 9);
  const Script::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.gain(0), 4, kNear);
}

// Phases between barriers. Who comes last computed longer than those who waited for it by more than
// it is behind the next one: what each decides alone is what the run would gain without it.
TEST(Gains, OfRandomPhases) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    Script s(4);
    double time = 0;
    std::vector<double> alone(4, 0);
    for (int phase = 0; phase < 8; ++phase) {
      std::vector<double> enters;
      for (int p = 0; p < 4; ++p) {
        enters.push_back(time + 0.001 + static_cast<double>(random() % 1000) / 1000);
      }
      std::vector<double> sorted = enters;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t p = 0; p < 4; ++p) {
        if (enters[p] == sorted[3]) alone[p] += sorted[3] - sorted[2];
      }
      s.barrier(enters, sorted[3]);
      time = sorted[3];
    }
    const Script::Found found = s.analyse_until(time + 1);
    for (LocationIndex p = 0; p < 4; ++p) {
      double sum = 0;  // of the stretch before the first barrier and those between two
      for (const RootCause& c : found.causes.causes) {
        if (c.location == p) sum += c.gain.value_or(0);
      }
      EXPECT_NEAR(sum, alone[p], 1e-6) << "seed " << seed << " process " << p;
    }
  }
}

}  // namespace
}  // namespace kojak::expert
