// What finds the next event: the tournament's winner and runner-up against a plain search, for
// every number of streams up to 33 and random times with many ties; turns against sorting.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "merge/input/kway.h"

namespace kojak::merge {
namespace {

// The stream with the smallest (time, number) but `except`; `n` if nothing is left.
std::uint32_t first(const std::vector<double>& times, std::uint32_t except) {
  auto best = static_cast<std::uint32_t>(times.size());
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    if (i == except || times[i] == Tournament::kFinished) continue;
    if (best == times.size() || times[i] < times[best]) best = i;
  }
  return best;
}

void expect_right(const Tournament& tournament, const std::vector<double>& times) {
  const auto n = static_cast<std::uint32_t>(times.size());
  const std::uint32_t winner = first(times, n);
  ASSERT_EQ(tournament.finished(), winner == n);
  if (winner == n) return;
  ASSERT_EQ(tournament.winner().stream, winner);
  ASSERT_EQ(tournament.winner().time, times[winner]);
  const std::uint32_t second = first(times, winner);
  const Tournament::Entry found = tournament.runner_up();
  if (second == n) {
    EXPECT_EQ(found.time, Tournament::kFinished);
  } else {
    ASSERT_EQ(found.stream, second);
    ASSERT_EQ(found.time, times[second]);
  }
}

TEST(Tournament, FindsTheFirstTwoUntilAllHaveEnded) {
  std::mt19937 random(11);
  for (std::size_t n = 1; n <= 33; ++n) {
    std::vector<double> times(n);
    for (double& time : times) time = static_cast<double>(random() % 5);
    Tournament tournament(times);
    expect_right(tournament, times);
    for (int events = 0; !tournament.finished(); ++events) {
      const std::uint32_t winner = tournament.winner().stream;
      const bool ends = events > 300 || random() % 60 == 0;
      times[winner] =
          ends ? Tournament::kFinished : times[winner] + static_cast<double>(random() % 3);
      tournament.replace(times[winner]);
      expect_right(tournament, times);
      ASSERT_FALSE(testing::Test::HasFatalFailure())
          << n << " streams, after " << events << " events";
    }
  }
}

TEST(Tournament, EqualTimesGoToTheLowerStream) {
  Tournament tournament({1, 1, 1});
  EXPECT_EQ(tournament.winner().stream, 0u);
  EXPECT_EQ(tournament.runner_up().stream, 1u);
  tournament.replace(2);
  EXPECT_EQ(tournament.winner().stream, 1u);
  tournament.replace(1);  // again
  EXPECT_EQ(tournament.winner().stream, 1u);
  EXPECT_EQ(tournament.runner_up().stream, 2u);
}

// All events of so many streams, each stream's ascending: by Turns, and sorted.
void expect_in_order(std::size_t n, std::size_t events, unsigned seed, double together) {
  std::mt19937 random(seed);
  std::vector<std::vector<double>> streams(n);
  std::vector<std::pair<double, std::uint32_t>> sorted;
  for (std::uint32_t i = 0; i < n; ++i) {
    double time = static_cast<double>(random() % 4) * together;
    for (std::size_t k = random() % (2 * events); k != 0; --k) {
      streams[i].push_back(time);
      sorted.emplace_back(time, i);
      // Often the same, at times in small steps, at times in long ones.
      if (random() % 3 == 0) time += 1e-7 * static_cast<double>(random() % 50);
      if (random() % 20 == 0) time += static_cast<double>(random() % 4) * together;
    }
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> at(n);
  const auto next = [&](std::uint32_t i) {
    return at[i] < streams[i].size() ? streams[i][at[i]] : Turns::kFinished;
  };
  std::vector<double> times;
  for (std::uint32_t i = 0; i < n; ++i) times.push_back(next(i));
  std::vector<bool> told(n);
  std::size_t windows = 0;
  const auto tell = [&](std::span<const Turns::Entry> players) {
    ++windows;
    told.assign(n, false);
    for (const Turns::Entry& e : players) {
      EXPECT_EQ(e.time, next(e.stream));
      told[e.stream] = true;
    }
  };
  std::size_t done = 0;
  for (Turns turns(times, tell); !turns.finished();) {
    const std::uint32_t winner = turns.winner().stream;
    const Turns::Entry limit = turns.limit();
    EXPECT_TRUE(told[winner]);
    do {
      ASSERT_LT(done, sorted.size());
      ASSERT_EQ(sorted[done], std::pair(next(winner), winner)) << done << " of " << sorted.size();
      ++done;
      ++at[winner];
    } while (Turns::Entry{next(winner), winner}.before(limit));
    turns.replace(next(winner), tell);
  }
  EXPECT_EQ(done, sorted.size());
  EXPECT_GT(windows, n < 512 ? 0u : 2u);
}

TEST(Turns, TakesAllEventsInOrder) {
  expect_in_order(3, 40, 1, 1e-6);
  expect_in_order(511, 20, 2, 1e-5);
  expect_in_order(512, 20, 3, 1e-5);   // windows begin
  expect_in_order(2000, 20, 4, 1e-9);  // many in each
  expect_in_order(2000, 20, 5, 1);     // and hardly any
  expect_in_order(700, 50, 6, 1e12);   // where a microsecond is less than a step of a double
}

TEST(Turns, WithoutStreamsNothingIsLeft) {
  const auto none = [](std::span<const Turns::Entry> players) { EXPECT_TRUE(players.empty()); };
  EXPECT_TRUE(Turns(std::vector<double>{}, none).finished());
  EXPECT_TRUE(Turns(std::vector<double>(600, Turns::kFinished), none).finished());
}

TEST(Tournament, WithoutStreamsNothingIsLeft) {
  EXPECT_TRUE(Tournament(std::vector<double>{}).finished());
  Tournament ended({Tournament::kFinished, Tournament::kFinished});
  EXPECT_TRUE(ended.finished());
}

}  // namespace
}  // namespace kojak::merge
