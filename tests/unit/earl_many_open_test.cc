// What a process has open is found among few and among many entries, whatever comes and goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "earl/aspects/passive.h"
#include "earl/many_open.h"

namespace kojak::earl {
namespace {

// Lists of two owners that grow and shrink at random around the bound between few and many: where
// the index knows a list, it finds what the list has.
TEST(ManyOpen, KnowsWhatLongListsHave) {
  struct Entry {
    std::uint32_t key, number;
  };
  std::minstd_rand random;
  ManyOpen many;
  std::vector<Entry> lists[2];
  bool were_many = false, were_few_again = false;
  for (std::uint32_t step = 0; step < 4000; ++step) {
    const std::uint64_t owner = random() % 2;
    std::vector<Entry>& list = lists[owner];
    const auto of = [&](const Entry& e) {
      return std::pair(ManyOpen::Key{owner, e.key}, e.number);
    };
    const bool grow = step / 200 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
    const auto key = static_cast<std::uint32_t>(random() % 60);
    const auto at =
        std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.key == key; });
    if (grow && at == list.end()) {
      list.push_back({key, step});
      many.added(list, of);
    } else if (!grow && !list.empty()) {
      const auto gone = list.begin() + static_cast<std::ptrdiff_t>(random() % list.size());
      const std::uint32_t taken = gone->key;
      list.erase(gone);
      many.removed(list, ManyOpen::Key{owner, taken}, of);
    }
    if (!ManyOpen::knows(list.size())) {
      were_few_again = were_few_again || were_many;
      continue;
    }
    were_many = true;
    for (std::uint32_t k = 0; k < 60; ++k) {
      const auto there =
          std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.key == k; });
      ASSERT_EQ(many.find({owner, k}), there == list.end() ? kNone : there->number) << step;
    }
  }
  EXPECT_TRUE(were_many && were_few_again);
}

// Forty locks of as many windows. Of every fourth one a get is flushed, which proves it; every
// second one ends, the oldest first; the others are told of at the end, in the order of their
// locks.
TEST(ManyOpen, LocksOfAsManyWindows) {
  constexpr std::uint32_t kWindows = 40;
  Findings findings;
  PassiveTarget locks(2, findings);
  Call call;
  const auto at = [&call](double time) -> const Call& {
    call.enter = call.exit = Seconds{time};
    return call;
  };
  const ProcessId me{0}, target{1};
  for (std::uint32_t w = 0; w < kWindows; ++w) {
    locks.lock(at(1 + w), WindowId{w}, target, false);
    locks.issue(locks.open_lock(me, WindowId{w}, target), target, RmaId{w}, true, false);
  }
  for (std::uint32_t w = 0; w < kWindows; w += 4)
    locks.flush(at(100 + w), WindowId{w}, target, false);
  for (std::uint32_t w = 0; w < kWindows; w += 2) {
    const PassiveEpoch* const ended = locks.unlock(at(200 + w), WindowId{w}, target);
    ASSERT_NE(ended, nullptr) << w;
    EXPECT_EQ(raw(ended->window), w);
    EXPECT_EQ(ended->proof.value, w % 4 == 0 ? 100 + w : 200 + w);
    EXPECT_EQ(locks.open_lock(me, WindowId{w}, target), kNone);
  }
  std::vector<std::uint32_t> left;
  locks.finish([&](const PassiveEpoch& epoch) { left.push_back(raw(epoch.window)); });
  ASSERT_EQ(left.size(), kWindows / 2);
  for (std::uint32_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i], 2 * i + 1);
}

// A flush of all targets and a request look at what is outstanding, not at all that is open: with a
// walk each of these three would make 10^10 steps, minutes.
constexpr std::uint32_t kOpenAtOnce = 100000;

struct ManyLocks {
  Findings findings;
  PassiveTarget locks{1, findings};
  Call call;
  const ProcessId me{0};
  const Call& at(double time) {
    call.enter = call.exit = Seconds{time};
    return call;
  }
  void issue(WindowId window, ProcessId target, std::uint32_t rmaid, bool get, bool request) {
    const std::uint32_t lock = locks.open_lock(me, window, target);
    const std::uint32_t of_all = locks.open_lock(me, window, absent<ProcessId>());
    locks.issue(lock != kNone ? lock : of_all, target, RmaId{rmaid}, get, request);
  }
};

// A lock of each window with a put and a get. Every second get is complete by its request, then
// everything by flushes of all targets; local ones prove what has a get outstanding.
TEST(ManyOpen, FlushesAndRequestsOfManyWindows) {
  ManyLocks run;
  const ProcessId target{0};
  for (std::uint32_t w = 0; w < kOpenAtOnce; ++w) {
    run.locks.lock(run.at(1), WindowId{w}, target, false);
    run.issue(WindowId{w}, target, 2 * w, false, false);
    run.issue(WindowId{w}, target, 2 * w + 1, true, true);
  }
  for (std::uint32_t w = kOpenAtOnce; w-- > 0;) {
    if (w % 2 == 0) run.locks.complete_request(run.at(2), WindowId{w}, RmaId{2 * w + 1});
  }
  for (std::uint32_t w = 0; w < kOpenAtOnce; ++w)
    run.locks.flush(run.at(3), WindowId{w}, absent<ProcessId>(), w % 4 == 1);
  // Complete already: no proof of its own.
  for (std::uint32_t w = 0; w < kOpenAtOnce; ++w)
    run.locks.complete_request(run.at(4), WindowId{w}, RmaId{2 * w + 1});
  for (std::uint32_t w = 0; w < kOpenAtOnce; ++w) {
    const PassiveEpoch* const ended = run.locks.unlock(run.at(5), WindowId{w}, target);
    ASSERT_NE(ended, nullptr);
    ASSERT_EQ(ended->proof.value, w % 2 == 0 ? 2 : 3) << w;
  }
  EXPECT_FALSE(run.locks.any_open(run.me));
}

// A local flush of all proves nothing of puts, and is told of as often as the program likes.
TEST(ManyOpen, LocalFlushesOfManyTargets) {
  ManyLocks run;
  const WindowId window{0};
  for (std::uint32_t t = 0; t < kOpenAtOnce; ++t) {
    run.locks.lock(run.at(1), window, ProcessId{t}, false);
    run.issue(window, ProcessId{t}, t, false, false);
  }
  for (std::uint32_t t = 0; t < kOpenAtOnce; ++t)
    run.locks.flush(run.at(2), window, absent<ProcessId>(), true);
  run.issue(window, ProcessId{7}, kOpenAtOnce, true, false);
  run.locks.flush(run.at(3), window, absent<ProcessId>(), true);
  run.locks.flush(run.at(4), window, absent<ProcessId>(), false);
  for (std::uint32_t t = 0; t < kOpenAtOnce; ++t) {
    const PassiveEpoch* const ended = run.locks.unlock(run.at(5), window, ProcessId{t});
    ASSERT_NE(ended, nullptr);
    ASSERT_EQ(ended->proof.value, t == 7 ? 3 : 4) << t;
  }
}

// Under a lock of all, each operation followed by a flush of all, or by its request.
TEST(ManyOpen, FlushesUnderALockOfAll) {
  ManyLocks run;
  const WindowId window{0};
  run.locks.lock_all(run.at(1), window);
  for (std::uint32_t t = 0; t < kOpenAtOnce; ++t) {
    run.issue(window, ProcessId{t}, t, true, true);
    if (t % 2 == 0) {
      run.locks.flush(run.at(2 + t), window, absent<ProcessId>(), false);
    } else {
      run.locks.complete_request(run.at(2 + t), window, RmaId{t});
    }
  }
  const PassiveEpoch* const ended = run.locks.unlock_all(run.at(3 + kOpenAtOnce), window);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->proof.value, 2);
  EXPECT_EQ(ended->targets.size(), kOpenAtOnce);
}

}  // namespace
}  // namespace kojak::earl
