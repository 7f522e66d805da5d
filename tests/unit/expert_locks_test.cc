// Lock Contention: the order in which epochs held a lock, and the queue, which forgets what nobody
// needs any more, against a computation that forgets nothing.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "expert/patterns/lock_contention.h"
#include "expert/patterns/wait_for_progress.h"
#include "expert/rma/lock_queue.h"
#include "expert/rma/presence.h"

namespace kojak::expert {
namespace {

// ---- sets of times

TEST(Intervals, MakeASet) {
  Intervals set{{{5}, {6}}, {{1}, {2}}, {{2}, {3}}, {{2.5}, {2.75}}, {{4}, {4}}};
  make_set(set);
  ASSERT_EQ(set.size(), 2u);  // [1, 3] and [5, 6]
  EXPECT_EQ(set[0].begin.value, 1);
  EXPECT_EQ(set[0].end.value, 3);
  EXPECT_EQ(set[1].end.value, 6);
}
TEST(Intervals, DifferenceIsOfTimesNotOfLengths) {
  const Intervals rest = without({{{0}, {10}}, {{12}, {14}}}, {{{2}, {3}}, {{9}, {13}}});
  ASSERT_EQ(rest.size(), 3u);  // [0, 2], [3, 9], [13, 14]
  EXPECT_EQ(rest[0].end.value, 2);
  EXPECT_EQ(rest[1].begin.value, 3);
  EXPECT_EQ(rest[1].end.value, 9);
  EXPECT_EQ(rest[2].begin.value, 13);
  EXPECT_TRUE(without({{{1}, {2}}}, {{{0}, {5}}}).empty());
}

// ---- the order of holding: {proof, lock exit, unlock enter, unlock exit}

TEST(HeldBefore, ByProofWhereBothAreKnown) {
  // a held it for certain in [6, 7], b in [2, 3], although a's calls came and ended first.
  const Holding a{{6}, {1}, {7}, {7.5}}, b{{2}, {1.5}, {3}, {9}};
  EXPECT_FALSE(held_before(a, b));
  EXPECT_TRUE(held_before(b, a));
}
TEST(HeldBefore, ByTheCallsIfAProofIsMissing) {
  // b's only proof is leaving unlock at 9, after it entered unlock.
  const Holding a{{6}, {5}, {7}, {7.5}}, b{{9}, {1}, {4}, {9}};
  EXPECT_FALSE(held_before(a, b));  // b's [1, 4] lies before a's [5, 7]
  EXPECT_TRUE(held_before(b, a));
}
TEST(HeldBefore, ElseByTheEndsOfUnlock) {
  const Holding a{{8}, {1}, {6}, {8}}, b{{9}, {2}, {7}, {9}};
  EXPECT_TRUE(held_before(a, b));
  EXPECT_FALSE(held_before(b, a));
}
TEST(Contention, FromWhenBothAskedToTheReleaseOrTheProof) {
  const Interval released = contention({3}, {1}, {6}, {8});
  EXPECT_EQ(released.begin.value, 3);
  EXPECT_EQ(released.end.value, 6);
  const Interval proved = contention({1}, {3}, {6}, {5});
  EXPECT_EQ(proved.begin.value, 3);
  EXPECT_EQ(proved.end.value, 5);
  EXPECT_FALSE(contention({6}, {1}, {6}, {8}).begin < contention({6}, {1}, {6}, {8}).end);
}

// ---- who was outside MPI

earl::Call mpi_call(double enter, double exit, const char* name = "MPI_Iprobe") {
  earl::Call c;
  c.function = find_mpi_function(name);
  c.enter = {enter};
  c.exit = {exit};
  return c;
}
earl::Call user_call(double enter, double exit) {
  earl::Call c;
  c.enter = {enter};
  c.exit = {exit};
  return c;
}

TEST(Presence, IsOutsideBetweenCallsThatCanProgress) {
  Presence presence(1);
  presence.enter(user_call(0, 9), false, kNever);
  for (const auto& c : {mpi_call(2, 3), mpi_call(4, 5, "MPI_Comm_rank"), mpi_call(6, 7)}) {
    presence.enter(c, false, Seconds{0});
    presence.leave(c, false);
  }
  Intervals outside;
  presence.outside(ProcessId{0}, {1}, {6}, outside);  // a call [1, 6]: [1, 2] and [3, 6]
  make_set(outside);
  ASSERT_EQ(outside.size(), 2u);
  EXPECT_EQ(outside[0].begin.value, 1);
  EXPECT_EQ(outside[1].begin.value, 3);
  EXPECT_EQ(outside[1].end.value, 6);
  outside.clear();
  presence.outside(ProcessId{0}, {1}, {5.9}, outside);  // it ended before the call at 6
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_TRUE(presence.throughout(ProcessId{0}, {3}, {5.9}));
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {3}, {6}));
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {2.9}, {5}));
  EXPECT_TRUE(presence.throughout(ProcessId{0}, {7}, {8}));  // still outside
  // At the very time when it came out, whichever of the two was recorded first.
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {3}, {3}));
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {7}, {7}));
  EXPECT_TRUE(presence.throughout(ProcessId{0}, {3.5}, {3.5}));
}
TEST(Presence, NothingIsKnownOfPausesAndOfTheTimeAfterTheLastEvent) {
  Presence presence(1);
  presence.enter(user_call(0, 9), false, kNever);
  presence.enter(user_call(1, 2), true, kNever);  // PAUSING
  presence.leave(user_call(1, 2), true);
  const auto c = mpi_call(3, 4);
  presence.enter(c, false, Seconds{0});
  presence.leave(c, false);
  Intervals outside;
  presence.outside(ProcessId{0}, {0}, {5}, outside);
  ASSERT_EQ(outside.size(), 1u);  // [2, 3]; what ended with the pause is left out
  EXPECT_EQ(outside[0].begin.value, 2);
  presence.leave(user_call(0, 9), false);
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {10}, {11}));
}
TEST(WaitForProgress, IsWhatOthersDidNotTake) {
  Call c;
  c.enter = {1};
  c.exit = {9};
  // Outside [1, 4] and [6, 8]; Lock Contention has [3, 7]: left [1, 3] and [7, 8].
  EXPECT_DOUBLE_EQ(RmaWaitForProgress::severity(c, {{{1}, {4}}, {{6}, {8}}}, {{{3}, {7}}}).value,
                   3);
  EXPECT_EQ(RmaWaitForProgress::severity(c, {}, {{{3}, {7}}}).value, 0);
  EXPECT_EQ(RmaWaitForProgress::severity(c, {{{3}, {4}}}, {{{3}, {7}}}).value, 0);
  EXPECT_DOUBLE_EQ(SyncLockContention::severity(c, {{{0}, {2}}, {{8}, {10}}}).value, 2);
  EXPECT_EQ(RmaLockContention::severity(c, {{{9}, {10}}}).value, 0);
}

// ---- the queue against all epochs at once

struct Epoch {
  std::uint32_t origin, target;  // target kAll: lock_all
  bool exclusive;
  double lock_enter, lock_exit, unlock_enter, unlock_exit;
};
constexpr std::uint32_t kAll = 99;

ProcessId target_id(const Epoch& e) {
  return e.target == kAll ? absent<ProcessId>() : ProcessId{e.target};
}
bool meet(const Epoch& a, const Epoch& b) {
  return a.target == kAll || b.target == kAll || a.target == b.target;
}

// The formula, with every epoch at hand. Proofs are the ends of unlock.
Intervals expected(const std::vector<Epoch>& all, const Epoch& e) {
  const auto holding = [](const Epoch& x) {
    return Holding{{x.unlock_exit}, {x.lock_exit}, {x.unlock_enter}, {x.unlock_exit}};
  };
  Intervals set;
  for (const Epoch& h : all) {
    if (h.origin == e.origin || !(h.exclusive || e.exclusive) || !meet(h, e)) continue;
    if (!held_before(holding(h), holding(e))) continue;
    // The target where both meet; a lock_all meets others there, too.
    const std::uint32_t t = h.target == kAll ? e.target : h.target;
    double release = h.unlock_exit;
    for (const Epoch& x : all) {
      if (x.origin == h.origin || !(x.exclusive || h.exclusive)) continue;
      if (x.target != kAll && x.target != t) continue;
      if (held_before(holding(h), holding(x))) release = std::min(release, x.unlock_exit);
    }
    release = std::max(release, h.unlock_enter);
    set.push_back(contention({e.lock_enter}, {h.lock_enter}, {release}, {e.unlock_exit}));
  }
  make_set(set);
  return set;
}

TEST(LockQueue, ForgetsNothingThatIsNeeded) {
  std::mt19937 random(7122026);
  std::uniform_real_distribution<double> gap(0.01, 1), slow(0.01, 4);
  for (int round = 0; round < 200; ++round) {
    // Each process makes its epochs one after the other; any order of holding is possible.
    std::vector<Epoch> epochs;
    struct Event {
      double time;
      int kind;  // 0 lock enter, 1 lock exit, 2 unlock enter, 3 unlock exit
      std::size_t epoch;
    };
    std::vector<Event> events;
    for (std::uint32_t p = 0; p < 4; ++p) {
      double t = gap(random);
      for (int n = 0; n < 12; ++n) {
        Epoch e{};
        e.origin = p;
        e.target = random() % 5 == 0 ? kAll : static_cast<std::uint32_t>(random() % 2);
        e.exclusive = e.target != kAll && random() % 2 == 0;
        e.lock_enter = t += gap(random);
        e.lock_exit = t += slow(random);
        e.unlock_enter = t += gap(random);
        e.unlock_exit = t += slow(random);
        for (int k = 0; k < 4; ++k) {
          const double times[] = {e.lock_enter, e.lock_exit, e.unlock_enter, e.unlock_exit};
          events.push_back({times[k], k, epochs.size()});
        }
        epochs.push_back(e);
      }
    }
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.time < b.time; });
    std::map<std::pair<std::uint32_t, double>, Intervals> found;
    LockQueue queue(4, [&](LockEpoch& e, const Intervals& waits) {
      found[{raw(e.origin), e.lock_enter.value}] = waits;
    });
    for (const Event& event : events) {
      const Epoch& e = epochs[event.epoch];
      earl::Call call;
      call.process = ProcessId{e.origin};
      call.enter = {event.kind < 2 ? e.lock_enter : e.unlock_enter};
      call.exit = {event.kind < 2 ? e.lock_exit : e.unlock_exit};
      switch (event.kind) {
        case 0:
          queue.enter_lock(call);
          break;
        case 1:
          queue.leave_lock(call.process);
          queue.begin(call, WindowId{0}, target_id(e), e.exclusive);
          break;
        case 2:
          queue.enter_unlock(call.process);
          break;
        default:
          queue.leave_unlock(call.process);
          queue.end(queue.find(call.process, WindowId{0}, target_id(e)), call);
      }
    }
    queue.finish();
    ASSERT_EQ(found.size(), epochs.size());
    for (const Epoch& e : epochs) {
      const Intervals& waits = found[{e.origin, e.lock_enter}];
      const Intervals wanted = expected(epochs, e);
      ASSERT_EQ(waits.size(), wanted.size()) << "round " << round << ", " << e.lock_enter;
      for (std::size_t i = 0; i < waits.size(); ++i) {
        EXPECT_DOUBLE_EQ(waits[i].begin.value, wanted[i].begin.value);
        EXPECT_DOUBLE_EQ(waits[i].end.value, wanted[i].end.value);
      }
    }
  }
}

}  // namespace
}  // namespace kojak::expert
