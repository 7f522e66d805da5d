// The order of lock holders: by hand, and on random programs whose lock manager is simulated, told
// of event by event as merge and EXPERT do, against the same rules on all epochs at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "epilog/model/lock_order.h"

namespace kojak::model {
namespace {

LockHold hold(std::uint32_t origin, bool exclusive, double lock_enter, double lock_exit,
              double unlock_enter, double unlock_exit) {
  return {origin,        exclusive,      {lock_enter},  {lock_exit}, {unlock_enter},
          {unlock_exit}, {unlock_enter}, {unlock_exit}, origin};
}
LockHold flushed(LockHold h, double enter, double exit) {
  h.proof_enter = {enter};
  h.proof = {exit};
  return h;
}

std::vector<LockOrder::Placed> order_of(std::vector<LockHold> holds) {
  std::sort(holds.begin(), holds.end(),
            [](const LockHold& a, const LockHold& b) { return a.unlock_exit < b.unlock_exit; });
  LockOrder order;
  for (const LockHold& h : holds) order.close(h);
  std::vector<LockOrder::Placed> placed;
  order.settle(kNever, {}, {}, [&](const LockOrder::Placed& p) { placed.push_back(p); });
  return placed;
}

// ---- by hand

TEST(LockOrder, ProofGoesBeforeTheEndsOfUnlock) {
  // 0 proves at 4 that it holds; 1 enters unlock at 5, so it cannot have released before: 0 is
  // first although its unlock [4.5, 9] ends last. 1 proves at 6, so 0 has released by then.
  const auto placed =
      order_of({flushed(hold(0, true, 1, 1.5, 4.5, 9), 3, 4), hold(1, true, 2, 2.5, 5, 6)});
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].hold.origin, 0u);
  EXPECT_EQ(placed[0].grant.value, 1);
  EXPECT_NEAR(placed[0].release.value, 6, 1e-12);
  EXPECT_NEAR(placed[1].grant.value, 6, 1e-12);
  EXPECT_EQ(placed[1].release.value, 6);
  EXPECT_EQ(placed[1].decision, LockDecision::kProof);
}

TEST(LockOrder, WhoWaitedLongerWasSecond) {
  // Both unlocks overlap: 0's [2, 6], 1's [5, 6.5]. 0's calls lasted 0.5 + 4, 1's 0.5 + 1.5: 0 has
  // waited for 1, although it asked first and was done first.
  const auto placed = order_of({hold(0, true, 1, 1.5, 2, 6), hold(1, true, 1.25, 1.75, 5, 6.5)});
  EXPECT_EQ(placed[0].hold.origin, 1u);
  EXPECT_EQ(placed[1].decision, LockDecision::kDurations);
  EXPECT_NEAR(placed[0].release.value, 6, 1e-12) << "when 0 proves its lock";
  EXPECT_EQ(placed[1].hold.origin, 0u);
}

TEST(LockOrder, WhatAnotherHoldersReleaseExplainsDoesNotCount) {
  // 2 holds until 10. 0 is in unlock since 3, 1 since 9.5; both ends, 10.4 and 10.5, are less than
  // half apart from the release: 0.4 and 0.5 since then. So the requests decide: 0.
  const auto placed = order_of({hold(2, true, 0, 0.1, 9.8, 10), hold(0, true, 2, 2.1, 3, 10.5),
                                hold(1, true, 9, 9.1, 9.5, 10.4)});
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_EQ(placed[0].hold.origin, 2u);
  EXPECT_EQ(placed[1].hold.origin, 0u);
  EXPECT_EQ(placed[2].hold.origin, 1u);
  EXPECT_EQ(placed[2].decision, LockDecision::kRequests);
}

TEST(LockOrder, ALongLockCallIsAWaitToo) {
  // 0's lock call [0, 5] waits for 1, which enters unlock at 4.999 and leaves it late, at 5.003.
  const auto placed =
      order_of({hold(0, true, 0, 5, 5.001, 5.002), hold(1, true, -1, -0.999, 4.999, 5.003)});
  EXPECT_EQ(placed[0].hold.origin, 1u);
  EXPECT_EQ(placed[1].decision, LockDecision::kDurations);
}

TEST(LockOrder, BoundaryUnlockEnteredAtTheProofIsOpen) {
  // 1 enters unlock at 4, when 0 proves: not after it. 0's calls lasted 0.5 + 1, 1's 0.5 + 2.
  const auto placed = order_of({hold(0, true, 1, 1.5, 3, 4), hold(1, true, 2, 2.5, 4, 6)});
  EXPECT_EQ(placed[0].hold.origin, 0u);
  EXPECT_EQ(placed[1].decision, LockDecision::kDurations);
  const auto later = order_of({hold(0, true, 1, 1.5, 3, 4), hold(1, true, 2, 2.5, 4.001, 6)});
  EXPECT_EQ(later[1].decision, LockDecision::kProof);
}

TEST(LockOrder, SharedHoldersDoNotWaitForEachOther) {
  const auto placed = order_of({hold(0, false, 1, 2, 3, 9), hold(1, false, 1, 2, 4, 8)});
  for (const auto& p : placed) {
    EXPECT_EQ(p.grant.value, 1);
    EXPECT_EQ(p.release, p.hold.unlock_exit);
    EXPECT_EQ(p.decision, LockDecision::kAlone);
  }
}

TEST(LockOrder, TwoThatHeldTogetherHaveNobodyBetween) {
  // 0 (shared) enters unlock at 6; 1 (shared) proves at 5: both held at 5. 2 (exclusive) was in
  // unlock since 4 and came after one of them, so after both, although by itself [4, 6.5] may
  // precede 0.
  const auto placed =
      order_of({hold(0, false, 1, 1.1, 6, 6.4), flushed(hold(1, false, 1, 1.1, 7, 7.1), 4.9, 5),
                hold(2, true, 2, 2.1, 4, 7.2)});
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_EQ(placed[2].hold.origin, 2u);
}

TEST(LockOrder, WrongClocksLeadIntoACircleThatIsCounted) {
  // Each proves before the other enters unlock: impossible. The beginnings of the unlocks decide.
  const auto placed = order_of(
      {flushed(hold(0, true, 1, 1.5, 6, 6.5), 2, 3), flushed(hold(1, true, 1, 1.5, 5, 7), 2, 4)});
  EXPECT_EQ(placed[0].hold.origin, 1u);
  EXPECT_EQ(placed[0].decision, LockDecision::kCircle);
}

TEST(LockOrder, BoundaryUnlockMayBeEnteredWhenAnotherEnds) {
  // 0 holds a lock of its own process and proves it at 2; it enters unlock at 6. 1 asked at 1.5 and
  // leaves its unlock [5, 6] at that very time: 0's proof is before 1's unlock, and 0's unlock is
  // not after 1's proof, so 0 was first, whatever of the two stands first in the file.
  LockOrder order;
  UnlockCalls unlocks;
  std::vector<std::uint32_t> placed;
  const auto settle = [&](double now) {
    return order.settle({now}, unlocks, {true, false}, [&](const LockOrder::Placed& p) {
      placed.push_back(p.hold.origin);
      EXPECT_NE(p.decision, LockDecision::kCircle);
    });
  };
  const LockOrder::Proof proof = order.prove(0, false, {2});
  unlocks.enter(1, {5});
  unlocks.leave(1);
  order.close(hold(1, true, 1.5, 1.75, 5, 6));
  EXPECT_EQ(settle(6).value, 6);  // ask again when that time has passed
  EXPECT_TRUE(placed.empty());
  unlocks.enter(0, {6});
  unlocks.leave(0);
  order.close(flushed(hold(0, false, 1, 1.25, 6, 6), 1.5, 2), proof);
  settle(7);
  EXPECT_EQ(placed, (std::vector<std::uint32_t>{0, 1}));
}

TEST(LockOrder, AProofOfAnOpenEpochCountsAsOneOfAClosedOne) {
  // 2 proves at 2 and enters unlock at 20 only; 0 and 1 took the exclusive lock in between, which
  // right clocks do not allow. All at once the beginnings of the unlocks decide: 1, 0, 2. Event by
  // event it must be the same.
  const LockHold zero = hold(0, true, 3, 3.5, 9, 10.5), one = hold(1, true, 4, 6, 8, 10);
  const LockHold two = flushed(hold(2, false, 1, 1.5, 20, 21), 1.5, 2);
  const auto expected = order_of({zero, one, two});
  ASSERT_EQ(expected.size(), 3u);
  EXPECT_EQ(expected[0].hold.origin, 1u);
  EXPECT_EQ(expected[1].hold.origin, 0u);
  LockOrder order;
  UnlockCalls unlocks;
  std::vector<std::uint32_t> placed;
  const auto settle = [&](double now) {
    order.settle({now}, unlocks, {true, true},
                 [&](const LockOrder::Placed& p) { placed.push_back(p.hold.origin); });
  };
  const LockOrder::Proof proof = order.prove(2, false, {2});
  unlocks.enter(1, {8});
  unlocks.enter(0, {9});
  unlocks.leave(1);
  order.close(one);
  settle(10);
  unlocks.leave(0);
  order.close(zero);
  settle(10.5);
  settle(15);
  unlocks.enter(2, {20});
  unlocks.leave(2);
  order.close(two, proof);
  settle(21);
  settle(30);
  settle(kNever.value);
  EXPECT_EQ(placed, (std::vector<std::uint32_t>{1, 0, 2}));
}

// ---- random programs

struct Epoch {
  LockHold hold;
  double held = 0;  // truly
};

struct Program {
  std::vector<Epoch> epochs;
};

// Origins lock one target again and again. The manager serves in the order of requests, or, among
// those that wait, anyone.
Program simulate(std::uint64_t seed, std::uint32_t origins, int each) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  const bool fair = random() % 2 == 0;
  struct Origin {
    double now = 0;
    int left = 0;
  };
  std::vector<Origin> all(origins);
  for (Origin& o : all) o = {uniform(0, 1), each};
  Program program;
  double exclusive_until = 0, shared_until = 0;
  for (;;) {
    std::vector<std::uint32_t> waiting;
    double first = kNever.value;
    for (std::uint32_t i = 0; i < origins; ++i) {
      if (all[i].left > 0) first = std::min(first, all[i].now);
    }
    if (first == kNever.value) break;
    const double free = std::max(first, exclusive_until);
    for (std::uint32_t i = 0; i < origins; ++i) {
      if (all[i].left > 0 && all[i].now <= free) waiting.push_back(i);
    }
    std::uint32_t chosen = waiting[random() % waiting.size()];
    if (fair) {
      chosen = *std::min_element(waiting.begin(), waiting.end(),
                                 [&](auto a, auto b) { return all[a].now < all[b].now; });
    }
    Origin& o = all[chosen];
    --o.left;
    const bool exclusive = random() % 3 != 0;
    double grant = std::max(o.now, exclusive_until);
    if (exclusive) grant = std::max(grant, shared_until);
    grant += uniform(0.0001, 0.01);
    Epoch e;
    LockHold& h = e.hold;
    h.origin = chosen;
    h.exclusive = exclusive;
    h.tag = program.epochs.size();
    e.held = grant;
    h.lock_enter = {o.now};
    const bool blocks = random() % 3 == 0;
    o.now = blocks ? grant + uniform(0.0001, 0.01) : o.now + uniform(0.0001, 0.05);
    h.lock_exit = {o.now};
    bool proved = false;
    if (random() % 3 == 0) {  // a flush
      o.now += uniform(0.0001, 0.1);
      h.proof_enter = {o.now};
      o.now = std::max(o.now, grant) + uniform(0.0001, 0.01);
      h.proof = {o.now};
      proved = true;
    }
    o.now += uniform(0.0001, random() % 4 == 0 ? 1 : 0.05);
    h.unlock_enter = {o.now};
    const double release = std::max(o.now, grant) + uniform(0.0001, 0.01);
    // Word of it may come late.
    o.now = release + uniform(0.0001, random() % 5 == 0 ? 0.3 : 0.005);
    h.unlock_exit = {o.now};
    if (!proved) {
      h.proof_enter = h.unlock_enter;
      h.proof = h.unlock_exit;
    }
    if (exclusive) exclusive_until = std::max(exclusive_until, release);
    if (!exclusive) shared_until = std::max(shared_until, release);
    o.now += uniform(0.0001, random() % 3 == 0 ? 0.5 : 0.02);
    program.epochs.push_back(e);
  }
  return program;
}

bool conflict(const LockHold& a, const LockHold& b) {
  return a.origin != b.origin && (a.exclusive || b.exclusive);
}

// The rules with all epochs at hand: in each step all that are left are compared with all.
std::vector<std::uint64_t> expected_order(const Program& program,
                                          std::map<std::uint64_t, LockDecision>& decisions) {
  std::vector<LockHold> left;
  for (const Epoch& e : program.epochs) left.push_back(e.hold);
  std::vector<std::pair<LockHold, double>> placed;  // and when it released at the earliest
  std::vector<std::uint64_t> order;
  std::set<std::uint64_t> by_request;
  while (!left.empty()) {
    const auto bound = [&](const LockHold& h) {
      double b = h.unlock_enter.value;
      for (const auto& [other, earliest] : placed) {
        if (h.exclusive || other.exclusive)
          b = std::max(b, std::min(earliest, h.unlock_exit.value));
      }
      return b;
    };
    const auto lasted = [&](const LockHold& h) {
      double since = -kNever.value;
      for (const auto& [other, earliest] : placed) {
        if (h.exclusive || other.exclusive) since = std::max(since, earliest);
      }
      return std::max(0.0, h.lock_exit.value - std::max(h.lock_enter.value, since)) +
             std::max(0.0, h.proof.value - std::max(h.proof_enter.value, since));
    };
    std::vector<LockHold> ready;
    for (const LockHold& b : left) {
      const bool free = std::none_of(left.begin(), left.end(), [&](const LockHold& a) {
        return a.tag != b.tag && (a.exclusive || b.exclusive) && a.proof.value < bound(b);
      });
      // Those that hold it together with a shared one, and those with them.
      double together = bound(b);
      for (bool grown = !b.exclusive; grown;) {
        grown = false;
        for (const LockHold& e : left) {
          if (e.exclusive || !(e.proof.value < together)) continue;
          grown = grown || together < e.unlock_enter.value;
          together = std::max(together, e.unlock_enter.value);
        }
      }
      const bool between = std::any_of(left.begin(), left.end(), [&](const LockHold& a) {
        return !b.exclusive && a.exclusive && a.proof.value < together;
      });
      if (free && !between) ready.push_back(b);
    }
    EXPECT_FALSE(ready.empty()) << "a circle with true clocks";
    if (ready.empty()) return order;
    // Shared ones that all exclusive ones come after go first, whatever comes next.
    const auto alone = [&](const LockHold& s) {
      return !s.exclusive && std::none_of(left.begin(), left.end(), [&](const LockHold& e) {
        return e.exclusive && e.unlock_enter <= s.proof;
      });
    };
    if (const auto s = std::find_if(ready.begin(), ready.end(), alone); s != ready.end()) {
      ready = {LockHold(*s)};
    }
    double least = kNever.value;
    for (const LockHold& h : ready) least = std::min(least, lasted(h));
    const auto rank = [&](const LockHold& h) {
      return std::tuple(!(lasted(h) <= 1.5 * least), h.lock_enter.value, h.origin);
    };
    const LockHold next =
        *std::min_element(ready.begin(), ready.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    LockDecision decision = LockDecision::kAlone;
    for (const auto& [other, earliest] : placed) {
      if (!next.exclusive && !other.exclusive) continue;
      if (next.lock_enter < other.unlock_exit) decision = std::max(decision, LockDecision::kProof);
      if (next.unlock_enter <= other.proof) decision = LockDecision::kDurations;
    }
    decisions[next.tag] = by_request.contains(next.tag) ? LockDecision::kRequests : decision;
    for (const LockHold& h : ready) {
      if (h.tag == next.tag || !(h.exclusive || next.exclusive)) continue;
      if (lasted(h) <= 1.5 * least) by_request.insert(h.tag);
    }
    placed.emplace_back(next, bound(next));
    order.push_back(next.tag);
    std::erase_if(left, [&](const LockHold& h) { return h.tag == next.tag; });
  }
  return order;
}

// Event by event.
std::vector<LockOrder::Placed> streamed(const Program& program, std::size_t& most_kept) {
  struct Event {
    double time;
    int kind;  // 0 proof on the way, 1 enters unlock, 2 leaves it, 3 asks for the lock
    std::size_t epoch;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < program.epochs.size(); ++i) {
    const LockHold& h = program.epochs[i].hold;
    if (h.proof < h.unlock_enter) events.push_back({h.proof.value, 0, i});
    events.push_back({h.lock_enter.value, 3, i});
    events.push_back({h.unlock_enter.value, 1, i});
    events.push_back({h.unlock_exit.value, 2, i});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.time < b.time; });
  LockOrder order;
  UnlockCalls unlocks;
  std::map<std::size_t, LockOrder::Proof> proofs;
  std::vector<LockOrder::Placed> placed;
  std::size_t closed = 0;
  int open[2] = {0, 0};
  for (const Event& event : events) {
    const LockHold& h = program.epochs[event.epoch].hold;
    if (event.kind == 0) proofs[event.epoch] = order.prove(h.origin, h.exclusive, h.proof);
    if (event.kind == 3) ++open[h.exclusive];
    if (event.kind == 1) unlocks.enter(h.origin, h.unlock_enter);
    if (event.kind != 2) continue;
    unlocks.leave(h.origin);
    order.close(h, proofs.contains(event.epoch) ? proofs[event.epoch] : LockOrder::kNoProof);
    ++closed;
    --open[h.exclusive];
    order.settle({event.time}, unlocks, {open[0] != 0, open[1] != 0},
                 [&](const LockOrder::Placed& p) { placed.push_back(p); });
    most_kept = std::max(most_kept, closed - placed.size());
  }
  order.settle(kNever, unlocks, {}, [&](const LockOrder::Placed& p) { placed.push_back(p); });
  EXPECT_TRUE(order.empty());
  return placed;
}

TEST(LockOrder, EventByEventIsAsAllAtOnce) {
  std::size_t pairs = 0, right = 0, by_exits = 0;
  LockDecisions counts;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Program program = simulate(seed, 2 + seed % 5, 12);
    std::map<std::uint64_t, LockDecision> decisions;
    const std::vector<std::uint64_t> expected = expected_order(program, decisions);
    std::size_t kept = 0;
    const std::vector<LockOrder::Placed> placed = streamed(program, kept);
    ASSERT_EQ(placed.size(), program.epochs.size());
    std::map<std::uint64_t, std::size_t> at, wanted;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      at[placed[i].hold.tag] = i;
      wanted[expected[i]] = i;
      counts.add(placed[i].decision);
      // (Whether durations or requests decided may depend on shared ones that come later.)
      const auto told = [](LockDecision d) { return std::min(d, LockDecision::kDurations); };
      EXPECT_EQ(told(placed[i].decision), told(decisions[placed[i].hold.tag])) << "seed " << seed;
      EXPECT_LE(placed[i].grant, placed[i].release);
      EXPECT_GE(placed[i].grant, placed[i].hold.lock_enter);
      EXPECT_LE(placed[i].grant, placed[i].hold.proof);
      EXPECT_GE(placed[i].release, placed[i].hold.unlock_enter);
      EXPECT_LE(placed[i].release, placed[i].hold.unlock_exit);
    }
    for (const Epoch& a : program.epochs) {
      for (const Epoch& b : program.epochs) {
        if (!conflict(a.hold, b.hold) || !(a.held < b.held)) continue;
        const bool first = at[a.hold.tag] < at[b.hold.tag];
        // Shared ones may be told in any order: only pairs that exclude each other count.
        EXPECT_EQ(first, wanted[a.hold.tag] < wanted[b.hold.tag]) << "seed " << seed;
        const LockOrder::Placed& x = placed[at[(first ? a : b).hold.tag]];
        const LockOrder::Placed& y = placed[at[(first ? b : a).hold.tag]];
        EXPECT_LE(x.release, y.grant) << "seed " << seed << ": conflicting holders overlap";
        if (a.hold.proof < b.hold.unlock_enter) {
          EXPECT_TRUE(first) << "seed " << seed << ": proof";
        }
        const bool open =
            !(a.hold.proof < b.hold.unlock_enter) && !(b.hold.proof < a.hold.unlock_enter);
        if (!open) continue;
        ++pairs;
        right += first;
        by_exits += a.hold.unlock_exit < b.hold.unlock_exit;
      }
    }
  }
  EXPECT_EQ(counts.circles, 0u);
  EXPECT_GT(counts.proof, 1000u);
  EXPECT_GT(counts.durations, 1000u);
  EXPECT_GT(counts.requests, 100u);
  EXPECT_GT(pairs, 1000u);
  // What the ends of unlock tell is right less often.
  EXPECT_GT(right, by_exits);
  RecordProperty("open_pairs", static_cast<int>(pairs));
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("right_by_exits", static_cast<int>(by_exits));
}

TEST(LockOrder, KeepsOnlyWhatIsOpen) {
  std::size_t kept = 0;
  streamed(simulate(7, 4, 5000), kept);
  EXPECT_LT(kept, 40u) << "of 20,000";
}

}  // namespace
}  // namespace kojak::model
