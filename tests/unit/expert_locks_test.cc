// Lock Contention: the order in which epochs held a lock, and the queue, which forgets what nobody
// needs any more, against a computation that forgets nothing.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "expert/patterns/rma/lock_contention.h"
#include "expert/patterns/rma/passive/lock_queue.h"
#include "expert/patterns/rma/passive/presence.h"
#include "expert/patterns/wait_for_progress.h"

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
  presence.enter(user_call(0, 9), false, false, kNever);
  for (const auto& c : {mpi_call(2, 3), mpi_call(4, 5, "MPI_Comm_rank"), mpi_call(6, 7)}) {
    presence.enter(c, false, c.function->can_progress, Seconds{0});
    presence.leave(c, false, c.function->can_progress, Seconds{0});
  }
  Intervals outside;
  presence.outside(ProcessId{0}, {{1}, {6}}, {6}, outside);  // [1, 2] and [3, 6]
  make_set(outside);
  ASSERT_EQ(outside.size(), 2u);
  EXPECT_EQ(outside[0].begin.value, 1);
  EXPECT_EQ(outside[1].begin.value, 3);
  EXPECT_EQ(outside[1].end.value, 6);
  outside.clear();
  presence.outside(ProcessId{0}, {{1}, {5.9}}, {5.9}, outside);  // it ended before that at 6
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
// A process is outside [1, 3] and [4, 6]. A call [0, 3.5] ended before the second time outside
// began: it waited for the first one, however wrong the clocks may be.
TEST(Presence, WhatBeginsBehindACallHasNotHeldItUp) {
  Presence presence(1);
  presence.enter(user_call(0, 9), false, false, kNever);
  for (const auto& c : {mpi_call(0.5, 1), mpi_call(3, 4), mpi_call(6, 7)}) {
    presence.enter(c, false, true, Seconds{0});
    presence.leave(c, false, true, Seconds{0});
  }
  constexpr Seconds kLater{8};
  Intervals outside;
  const Presence::Absence* last = presence.outside(ProcessId{0}, {{0.7}, {3.5}}, kLater, outside);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->when.end.value, 3);
  EXPECT_EQ(outside.size(), 1u);
  EXPECT_FALSE(presence.came_back(ProcessId{0}, {4.5}, {{3.2}, {4}}, kLater));  // began at its end
  EXPECT_TRUE(presence.came_back(ProcessId{0}, {4.5}, {{3.2}, {4.1}}, kLater));
  outside.clear();
  last = presence.outside(ProcessId{0}, {{0.7}, {4.1}}, kLater, outside);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->when.end.value, 6);
  EXPECT_EQ(outside.size(), 2u);
}
TEST(Presence, NothingIsKnownOfPausesAndOfTheTimeAfterTheLastEvent) {
  Presence presence(1);
  presence.enter(user_call(0, 9), false, false, kNever);
  presence.enter(user_call(1, 2), true, false, kNever);  // PAUSING
  presence.leave(user_call(1, 2), true, false, Seconds{0});
  const auto c = mpi_call(3, 4);
  presence.enter(c, false, c.function->can_progress, Seconds{0});
  presence.leave(c, false, c.function->can_progress, Seconds{0});
  Intervals outside;
  const Presence::Absence* const last = presence.outside(ProcessId{0}, {{0}, {5}}, {5}, outside);
  ASSERT_EQ(outside.size(), 2u);  // [2, 3], with which it came back, and [0, 1] before the pause
  EXPECT_EQ(outside[0].begin.value, 2);
  EXPECT_EQ(outside[1].begin.value, 0);
  EXPECT_EQ(outside[1].end.value, 1);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->when.end.value, 3);
  // For a call that ended before it came back it never did: the pause tells nothing.
  Intervals none;
  EXPECT_EQ(presence.outside(ProcessId{0}, {{0}, {2.5}}, {2.5}, none), nullptr);
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(presence.came_back(ProcessId{0}, {0}, {{0.5}, {2.5}}, {2.5}));
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {0.5}, {1.5}));
  presence.leave(user_call(0, 9), false, false, Seconds{0});
  EXPECT_FALSE(presence.throughout(ProcessId{0}, {10}, {11}));
}
TEST(Presence, GrantsNothingWhereTimeRunsBackwards) {
  Presence presence(2);
  presence.enter(user_call(0, 9), false, false, kNever);
  for (const auto& c :
       {mpi_call(2, 3), mpi_call(4, 5), mpi_call(6, 7)}) {  // it comes back at 2, 4 and 6
    presence.lock_call(Seconds{c.enter.value - 0.5}, Seconds{0});
    presence.enter(c, false, true, Seconds{0});
    presence.leave(c, false, true, Seconds{0});
  }
  const auto service = [&](Interval lock) {
    return presence.service(ProcessId{1}, ProcessId{0}, lock, {{8}, {9}});
  };
  // Asked for in [1, 5]: it had been outside since 0, and came back in that call, at 4 last.
  EXPECT_EQ(service({{1}, {5}}).left.value, 0);
  EXPECT_EQ(service({{1}, {5}}).from.value, 4);
  // In [5, 1], as only a damaged trace has it: it came back at 6 first, before the proving call.
  EXPECT_EQ(service({{5}, {1}}).left.value, 5);
  EXPECT_EQ(service({{5}, {1}}).from.value, 6);
}
TEST(WaitForProgress, IsWhatOthersDidNotTake) {
  Call c;
  c.enter = {1};
  c.exit = {9};
  // Outside [1, 4] and [6, 8]; Lock Contention has [3, 7]: left [1, 3] and [7, 8].
  EXPECT_DOUBLE_EQ(wait_for_progress(c, {{{1}, {4}}, {{6}, {8}}}, {{{3}, {7}}}).value, 3);
  EXPECT_EQ(wait_for_progress(c, {}, {{{3}, {7}}}).value, 0);
  EXPECT_EQ(wait_for_progress(c, {{{3}, {4}}}, {{{3}, {7}}}).value, 0);
  EXPECT_DOUBLE_EQ(SyncLockContention::severity(c, {{{0}, {2}}, {{8}, {10}}}).value, 2);
  EXPECT_EQ(RmaLockContention::severity(c, {{{9}, {10}}}).value, 0);
}

// ---- the queue

struct Asked {
  std::uint32_t origin, target;  // target kAll: lock_all
  bool exclusive;
  double lock_enter, lock_exit, unlock_enter, unlock_exit;
};
constexpr std::uint32_t kAll = 99;

// For whom each epoch's lock call waited, by origin and when it asked: [from, to] of holder.
struct Waited {
  std::uint32_t holder;
  double from, to;
};
using Waits = std::map<std::pair<std::uint32_t, double>, std::vector<Waited>>;

Waits waits_of(const std::vector<Asked>& epochs, std::uint32_t processes) {
  struct Event {
    double time;
    int kind;  // 0 lock enter, 1 lock exit, 2 unlock enter, 3 unlock exit
    const Asked* epoch;
  };
  std::vector<Event> events;
  for (const Asked& e : epochs) {
    events.push_back({e.lock_enter, 0, &e});
    events.push_back({e.lock_exit, 1, &e});
    events.push_back({e.unlock_enter, 2, &e});
    events.push_back({e.unlock_exit, 3, &e});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  Waits found;
  std::size_t over = 0;
  const Presence presence(processes);
  LockQueue queue(processes, presence,
                  {[&](LockEpoch& e, ProcessId, const LockQueue::Turns& turns) {
                     Call call;
                     call.enter = e.lock_enter;
                     call.exit = kNever;
                     turns.for_each(call, [&](const LockTurn& turn, Seconds begin, Seconds end) {
                       found[{raw(e.origin), e.lock_enter.value}].push_back(
                           {raw(turn.origin), std::max(begin, turn.asked).value,
                            std::min(end, turn.release).value});
                     });
                   },
                   [&](LockEpoch&) { ++over; }, [](ProcessId, ProcessId) { return true; }});
  queue.forget_before(Seconds{-1});
  for (const Event& event : events) {
    const Asked& e = *event.epoch;
    const ProcessId target = e.target == kAll ? absent<ProcessId>() : ProcessId{e.target};
    Call call;
    call.process = ProcessId{e.origin};
    call.enter = {event.kind < 2 ? e.lock_enter : e.unlock_enter};
    call.exit = {event.kind < 2 ? e.lock_exit : e.unlock_exit};
    queue.wake({event.time});
    if (event.kind == 0) queue.enter_lock(call.process);
    if (event.kind == 1) {
      queue.leave_lock(call.process);
      const LockQueue::Id id = queue.begin(call, WindowId{0}, target, e.exclusive);
      queue[id].calls.push_back(0);  // it wants to know
    }
    if (event.kind == 2) queue.enter_unlock(call.process, call.enter);
    if (event.kind == 3) {
      queue.leave_unlock(call.process);
      queue.end(queue.find(call.process, WindowId{0}, target), call);
    }
  }
  queue.finish();
  EXPECT_EQ(over, epochs.size());
  return found;
}

TEST(LockQueue, TellsWhoHeldTheLockAndWhen) {
  // 0 holds [1, 5] to [5.5]; 1 asks at 2 and leaves unlock at 7; 2 asks at 3 and leaves unlock
  // at 9.
  const Waits waits = waits_of(
      {{0, 3, true, 1, 1.1, 5, 5.5}, {1, 3, true, 2, 5.6, 6, 7}, {2, 3, true, 3, 7.1, 8, 9}}, 4);
  EXPECT_EQ(waits.count({0, 1.0}), 0u);
  const std::vector<Waited>& first = waits.at({1, 2.0});
  ASSERT_EQ(first.size(), 1u);  // 0's turn [1, 5.5], from 2 on
  EXPECT_EQ(first[0].holder, 0u);
  EXPECT_EQ(first[0].from, 2);
  EXPECT_EQ(first[0].to, 5.5);
  const std::vector<Waited>& second = waits.at({2, 3.0});
  ASSERT_EQ(second.size(), 2u);  // 1's turn begins when 0 has released: [5.5, 7], and 0's from 3 on
  EXPECT_EQ(second[0].holder, 1u);
  EXPECT_EQ(second[0].from, 5.5);
  EXPECT_EQ(second[0].to, 7);
  EXPECT_EQ(second[1].holder, 0u);
  EXPECT_EQ(second[1].from, 3);
}

TEST(LockQueue, LockAllWaitsAtEachTarget) {
  // 0 locks 2 and 1 locks 3, each exclusive; 3 asks for all at 2: 0 until 4.5, 1 until 6.5.
  const Waits waits = waits_of({{0, 2, true, 1, 1.1, 4, 4.5},
                                {1, 3, true, 1, 1.1, 6, 6.5},
                                {3, kAll, false, 2, 2.1, 7, 7.5}},
                               4);
  const std::vector<Waited>& all = waits.at({3, 2.0});
  ASSERT_EQ(all.size(), 2u);
  double until[2] = {0, 0};
  for (const Waited& w : all) until[w.holder] = w.to;
  EXPECT_EQ(until[0], 4.5);
  EXPECT_EQ(until[1], 6.5);
}

TEST(LockQueue, SharedLocksWaitForNobodyWhoShares) {
  const Waits waits = waits_of(
      {{0, 2, false, 1, 1.1, 9, 9.5}, {1, 2, false, 2, 2.1, 3, 3.5}, {2, kAll, false, 2, 3, 4, 5}},
      3);
  EXPECT_TRUE(waits.empty());
}

}  // namespace
}  // namespace kojak::expert
