// The tournament that finds the next event: winner and runner-up against a plain search, for every
// number of streams up to 33 and random times with many ties.
#include <gtest/gtest.h>

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

TEST(Tournament, WithoutStreamsNothingIsLeft) {
  EXPECT_TRUE(Tournament({}).finished());
  Tournament ended({Tournament::kFinished, Tournament::kFinished});
  EXPECT_TRUE(ended.finished());
}

}  // namespace
}  // namespace kojak::merge
