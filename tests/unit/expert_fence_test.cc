// Wait at Fence over whole instances: the search for the enter that decides a NOPRECEDE fence finds
// what the formula says, for every member and with clocks that disagree.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "expert/patterns/rma/fence_wait.h"

namespace kojak::expert {
namespace {

// What a pattern sees of the analysis. Ranks are spread over nodes; the clocks of two nodes are
// apart by the sum of their errors.
struct Clocks {
  std::vector<double> error;  // by node
  std::map<std::uint32_t, double> severity;
  std::uint64_t notes = 0;

  Seconds delta(const earl::OpenCall& a, const earl::OpenCall& b) const {
    const std::size_t x = a.index % error.size(), y = b.index % error.size();
    return x == y ? Seconds{0} : Seconds{error[x] + error[y]};
  }
  Seconds max_delta() const { return {2 * *std::max_element(error.begin(), error.end())}; }
  void add(FenceWait, const Call& call, Seconds severity_of_call, EndedBy = {}) {
    severity[call.index] += severity_of_call.value;
  }
  void count(Note, const Call&) { ++notes; }
};

// Found by fuzzing: a damaged trace, in which time runs backwards. The first member leaves at 1,
// before anybody enters; the other leaves at 4, after its own enter at 3 only.
TEST(FenceWait, ACallThatIsLeftBeforeItIsEnteredWaitsForNobody) {
  Clocks clocks;
  clocks.error = {0};
  earl::WindowInstance instance;
  instance.role = MpiRole::kWinFence;
  for (const auto& [enter, exit] : {std::pair{5.0, 1.0}, std::pair{3.0, 4.0}}) {
    earl::WindowMember m;
    m.call.index = static_cast<std::uint32_t>(instance.members.size());
    m.call.enter = {enter};
    m.call.exit = {exit};
    m.call.assertion = kAssertNoPrecede;
    instance.members.push_back(m);
  }
  FenceWait pattern;
  pattern.on_window_collective(instance, clocks);
  EXPECT_EQ(clocks.severity[0], 0);
  EXPECT_EQ(clocks.severity[1], 0);
}

// Times that are no numbers among 40 others: member i enters at i and leaves at 50, every fourth
// one enters at no time at all. The last that tells its enter is member 39, so member i waits 39 -
// i.
TEST(FenceWait, EntersThatAreNoNumbersHaveNoOrder) {
  Clocks clocks;
  clocks.error = {0};
  earl::WindowInstance instance;
  instance.role = MpiRole::kWinFence;
  for (std::uint32_t i = 0; i < 40; ++i) {
    earl::WindowMember m;
    m.call.index = i;
    m.call.enter = {i % 4 == 0 ? std::nan("") : i};
    m.call.exit = {50};
    m.call.assertion = kAssertNoPrecede;
    instance.members.push_back(m);
  }
  FenceWait pattern;
  pattern.on_window_collective(instance, clocks);
  for (std::uint32_t i = 0; i < 40; ++i) {
    if (i % 4 != 0) {
      EXPECT_EQ(clocks.severity[i], 39.0 - i) << i;
    }
  }
}

TEST(FenceWait, FindsTheEnterThatTheFormulaMeans) {
  std::mt19937 random(20260711);
  // Few different times, so that ties and borders are common.
  std::uniform_int_distribution<int> tick(0, 40), length(0, 12), member(1, 30);
  for (int round = 0; round < 300; ++round) {
    Clocks clocks;
    clocks.error = {0, 0.5 * (round % 4), 0.25 * (round % 3)};
    earl::WindowInstance instance;
    instance.role = MpiRole::kWinFence;
    const int size = member(random);
    for (int i = 0; i < size; ++i) {
      earl::WindowMember m;
      m.call.index = static_cast<std::uint32_t>(i);
      m.call.enter = {0.25 * tick(random)};
      m.call.exit = m.call.enter + Seconds{0.25 * length(random)};
      m.call.assertion = kAssertNoPrecede;
      instance.members.push_back(m);
    }
    FenceWait pattern;
    pattern.on_window_collective(instance, clocks);
    for (const earl::WindowMember& m : instance.members) {
      std::vector<Cause> enters;  // the formula's: all of them
      for (const earl::WindowMember& other : instance.members) {
        enters.push_back({other.call.enter, clocks.delta(m.call, other.call)});
      }
      EXPECT_DOUBLE_EQ(clocks.severity[m.call.index],
                       FenceWait::severity_noprecede(m.call, enters).value)
          << "round " << round << ", member " << m.call.index;
    }
  }
}

}  // namespace
}  // namespace kojak::expert
