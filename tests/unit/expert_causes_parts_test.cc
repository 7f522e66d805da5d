// The parts that root causes are found with: sorting of logs, numbers of places, timelines.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "expert/causes/solve/activity.h"
#include "expert/causes/solve/place_numbers.h"
#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {
namespace {

struct Numbered {
  Ticks time;
  std::uint32_t number;
};

// Sorted by time, equals in the order of their numbers, as std::stable_sort has them.
void expect_sorted(const std::vector<Ticks>& times) {
  LogMemory memory;
  LogVector<Numbered> log(memory);
  std::vector<Numbered> wanted;
  for (std::size_t i = 0; i < times.size(); ++i) {
    log.push_back({times[i], static_cast<std::uint32_t>(i)});
    wanted.push_back(log.back());
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Numbered& a, const Numbered& b) { return a.time < b.time; });
  sort_by(log, [](const Numbered& n) { return n.time; });
  ASSERT_EQ(log.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(log[i].time, wanted[i].time) << i;
    ASSERT_EQ(log[i].number, wanted[i].number) << i;
  }
}

TEST(SortBy, KeepsTheOrderOfEquals) {
  expect_sorted({});
  expect_sorted({7});
  expect_sorted({2, 1});
  expect_sorted({1, 1, 0, 0, 1, 0});
  expect_sorted({Ticks{1} << 62, 0, Ticks{1} << 40, 5, 5, 0});
}

TEST(SortBy, WhatLiesNearItsPlaceAndWhatDoesNot) {
  std::mt19937_64 random(3);
  std::vector<Ticks> near, far, reversed;
  for (Ticks i = 0; i < 20'000; ++i) {
    near.push_back(10 * i + static_cast<Ticks>(random() % 100));
    far.push_back(static_cast<Ticks>(random() % (std::uint64_t{1} << 45)));
    reversed.push_back(20'000 - i / 3);
  }
  expect_sorted(near);
  expect_sorted(far);
  expect_sorted(reversed);
  // One that belongs to the front stands last.
  near.push_back(0);
  expect_sorted(near);
}

TEST(PlaceNumbers, CountInTheOrderOfAppearance) {
  PlaceNumbers numbers;
  std::map<std::pair<LocationIndex, std::uint32_t>, std::uint32_t> known;
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const LocationIndex location = random() % 64;
    const std::uint32_t what = random() % 2 == 0 ? random() % 50 : ~(random() % 50);
    const auto number =
        known.try_emplace({location, what}, static_cast<std::uint32_t>(known.size())).first->second;
    ASSERT_EQ(numbers.number(location, what), number);
    ASSERT_EQ(numbers.location(number), location);
    ASSERT_EQ(numbers.what(number), what);
  }
  EXPECT_EQ(numbers.size(), known.size());
}

TEST(LogVectors, GrowFromMemoryIntoFilesAndBackWhereTheyAreGone) {
  LogMemory memory(std::size_t{1} << 16);
  LogVector<std::uint32_t> log(memory);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    log.push_back(i == 0 ? 1 : log[i / 2] + i);  // of itself, also while it grows
  }
  EXPECT_GT(memory.in_files(), 0u);
  std::uint32_t last = 1;
  std::vector<std::uint32_t> wanted{1};
  for (std::uint32_t i = 1; i < 100'000; ++i) wanted.push_back(last = wanted[i / 2] + i);
  EXPECT_TRUE(std::equal(log.begin(), log.end(), wanted.begin(), wanted.end()));
  LogVector<std::uint32_t> other(memory);
  other.append(log.begin() + 10, log.begin() + 20);
  EXPECT_EQ(other.size(), 10u);
  EXPECT_EQ(other[9], wanted[19]);
  other.swap(log);
  EXPECT_EQ(log.size(), 10u);
  EXPECT_EQ(other.back(), last);
}

// A process that computes and calls by turns, 100 ticks each, and waits within some calls.
class Turns : public ::testing::Test {
 protected:
  static constexpr Ticks kTurns = 1000;
  static constexpr CallPathIndex kMain = 0, kCall = 1;
  Turns() : timeline_(memory_) {
    timeline_.enter(0, kMain, Timeline::Kind::kComputing, stretches_);
    for (Ticks t = 0; t < kTurns; ++t) {
      timeline_.enter(200 * t + 100, kCall, Timeline::Kind::kCall, stretches_);
      timeline_.leave(200 * t + 200);
    }
    timeline_.finish(stretches_);
    // Every tenth call waits in its last half.
    std::vector<WaitSpan> waits;
    for (Ticks t = 0; t < kTurns; t += 10) {
      waits.push_back(
          {200 * t + 150, 200 * t + 200, static_cast<WaitId>(t / 10), stretches_.call(kCall), 0});
    }
    timeline_.carve(waits);
    for (const WaitSpan& w : waits) EXPECT_EQ(w.found, 50);
  }
  // Ticks of computing, calls and waits in [from, to], counted one by one.
  struct Sums {
    Ticks computing = 0, calls = 0, waits = 0;
    bool operator==(const Sums&) const = default;
  };
  static Sums counted(Ticks from, Ticks to) {
    Sums sums;
    for (Ticks t = from; t < std::min(to, 200 * kTurns); ++t) {
      const Ticks within = t % 200;
      const bool waits = within >= 150 && t / 200 % 10 == 0;
      ++(within < 100 ? sums.computing : waits ? sums.waits : sums.calls);
    }
    return sums;
  }
  Sums looked_at(Ticks from, Ticks to) {
    activity_.look_at(timeline_, stretches_, from, to);
    Sums sums;
    std::set<StretchId> seen;
    for (const Activity::Part& p : activity_.parts()) {
      EXPECT_TRUE(seen.insert(p.stretch).second);
      const bool computing = stretches_[p.stretch].kind == Stretch::Kind::kComputing;
      (computing ? sums.computing : sums.calls) += p.time;
    }
    Ticks of_waits = 0;
    for (const Activity::Part& p : activity_.waits()) sums.waits += p.time;
    for (const Activity::Waited& w : activity_.waited()) of_waits += w.time;
    EXPECT_EQ(of_waits, sums.waits);
    return sums;
  }

  LogMemory memory_;
  Stretches stretches_;
  Timeline timeline_;
  Activity activity_;
};

TEST_F(Turns, AreFoundWhereverItLookedLast) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Ticks a = random() % (200 * kTurns), b = random() % 2000;
    ASSERT_EQ(looked_at(a, a + b), counted(a, a + b)) << a << ' ' << b;
  }
  EXPECT_EQ(looked_at(0, 200 * kTurns), counted(0, 200 * kTurns));
  EXPECT_EQ(looked_at(500, 500), Sums{});
  EXPECT_EQ(looked_at(200 * kTurns, 200 * kTurns + 5), Sums{});
}

TEST_F(Turns, WhatItDidJustBefore) {
  EXPECT_EQ(timeline_.before(0), nullptr);
  EXPECT_EQ(timeline_.before(200 * kTurns + 1), nullptr);
  ASSERT_NE(timeline_.before(200 * kTurns), nullptr);
  EXPECT_EQ(timeline_.before(200 * kTurns)->end, 200 * kTurns);
  EXPECT_EQ(timeline_.before(100)->end, 100);
  EXPECT_EQ(timeline_.before(101)->end, 150);
  EXPECT_EQ(timeline_.before(151)->wait, 0u);
  EXPECT_EQ(timeline_.before(150)->wait, kNoWait);
}

// Computing and calls of random lengths, some with a function within; a wait lies anywhere in a
// call and is told some events after the call. `all` gets the waits, to be placed in the end.
class RandomRun {
 public:
  RandomRun(unsigned seed, bool tell) : random_(seed), tell_(tell), timeline_(memory_) {
    // A parallel region of OpenMP, which other calls are in, counts as a call.
    const auto outer = seed % 2 == 0 ? Timeline::Kind::kComputing : Timeline::Kind::kCall;
    timeline_.enter(1, 0, outer, stretches_);
    for (WaitId call = 0; call < 400; ++call) {
      const CallPathIndex path = 1 + random_() % 3;
      const Ticks enter = random_() % 3 == 0 ? now_ : step();
      timeline_.enter(enter, path, Timeline::Kind::kCall, stretches_);
      if (random_() % 4 == 0) {
        timeline_.enter(step(), 7, Timeline::Kind::kComputing, stretches_);
        timeline_.leave(step());
      }
      timeline_.leave(step());
      const Ticks begin = enter + static_cast<Ticks>(random_() % (now_ - enter));
      const Ticks end = begin + static_cast<Ticks>(random_() % (now_ - begin + 1));
      all_.push_back({begin, end, call, stretches_.call(path), 0});
      // Up to three calls later.
      while (told_ + random_() % 4 < all_.size()) tell_next();
    }
    while (told_ < all_.size()) tell_next();
    timeline_.finish(stretches_);
  }
  Timeline& timeline() { return timeline_; }
  std::vector<WaitSpan>& waits() { return all_; }
  // What it does, and when that ends: pieces of the same count as one.
  std::vector<std::array<Ticks, 3>> pieces() {
    std::vector<std::array<Ticks, 3>> found;
    timeline_.each(0, timeline_.end(), [&](const Piece& piece, Ticks, Ticks end) {
      const std::array<Ticks, 3> one{end, piece.stretch, piece.wait};
      if (!found.empty() && found.back()[1] == one[1] && found.back()[2] == one[2]) {
        found.back() = one;
      } else {
        found.push_back(one);
      }
    });
    return found;
  }

 private:
  Ticks step() { return now_ += static_cast<Ticks>(1 + random_() % 50); }
  void tell_next() {
    if (tell_) timeline_.place(all_[told_]);
    ++told_;
  }

  std::mt19937 random_;
  bool tell_;
  Ticks now_ = 1;
  std::size_t told_ = 0;
  LogMemory memory_;
  Stretches stretches_;
  Timeline timeline_;
  std::vector<WaitSpan> all_;
};

// Each wait that was told soon lies where it lies if all of them are placed in the end.
TEST(Waits, HaveTheSamePlacesWheneverTheyAreTold) {
  Ticks found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomRun soon(seed, true), late(seed, false);
    ASSERT_TRUE(soon.timeline().all_placed());
    late.timeline().carve(late.waits());
    ASSERT_EQ(soon.pieces(), late.pieces()) << seed;
    for (std::size_t w = 0; w < soon.waits().size(); ++w) {
      ASSERT_EQ(soon.waits()[w].found, late.waits()[w].found) << seed << ' ' << w;
      found += soon.waits()[w].found;
    }
  }
  EXPECT_GT(found, 0);
}

// An earlier one, one that overlaps, one that is not over, one long ago: then all are placed anew.
TEST(Waits, ThatComeTooLateArePlacedInTheEnd) {
  RandomRun late(3, false);
  std::vector<WaitSpan> waits = late.waits();
  late.timeline().carve(waits);
  for (const int how : {0, 1, 2, 3}) {
    RandomRun run(3, how < 2);
    Timeline& timeline = run.timeline();
    EXPECT_EQ(timeline.all_placed(), true);
    WaitSpan wait = run.waits()[how == 0 ? 7 : 399];
    wait.found = 0;
    if (how == 1) --wait.begin;
    if (how == 2) wait.end = timeline.end() + 1;
    if (how == 3) wait = run.waits()[7];
    timeline.place(wait);
    EXPECT_FALSE(timeline.all_placed()) << how;
    EXPECT_EQ(wait.found, 0);
    std::vector<WaitSpan> anew = late.waits();
    timeline.carve(anew);
    EXPECT_EQ(run.pieces(), late.pieces()) << how;
    for (std::size_t w = 0; w < anew.size(); ++w) EXPECT_EQ(anew[w].found, waits[w].found) << w;
  }
}

}  // namespace
}  // namespace kojak::expert
