// What a page keeps follows from what there is and the scale alone: not from the order in which it
// came, nor from where the run was cut. Random calls, waits, epochs and transfers; calls against
// the rule, applied to the tree of all of them.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "expert/page/kept/trace_sums.h"

namespace kojak::html {
namespace {

using Random = std::mt19937_64;

struct CallNode {
  Nanoseconds begin = 0, end = 0;
  std::uint32_t path = 0;
  std::vector<CallNode> children;
};
// Calls one after the other from `begin` to before `end`, with calls in them; lengths of all sizes.
std::vector<CallNode> random_calls(Random& random, Nanoseconds begin, Nanoseconds end, int depth) {
  std::vector<CallNode> calls;
  for (Nanoseconds at = begin; at < end;) {
    CallNode call{.begin = at + random() % 3, .path = static_cast<std::uint32_t>(random() % 5)};
    if (call.begin >= end) break;
    call.end = std::min(end, call.begin + (random() & ((Nanoseconds{1} << random() % 10) - 1)));
    if (depth > 0) call.children = random_calls(random, call.begin, call.end, depth - 1);
    at = call.end + (random() % 4 == 0 ? random() % 200 : 0);
    calls.push_back(std::move(call));
  }
  return calls;
}
// The rule.
void draw(const std::vector<CallNode>& calls, Scale scale, std::uint32_t depth,
          std::vector<Box>& boxes) {
  std::size_t before = 0;  // one more than the place of a box of short calls that may take one in
  for (const CallNode& call : calls) {
    const Nanoseconds length = call.end - call.begin;
    if (scale.level() == 0 || length >= scale.cell()) {
      boxes.push_back({.begin = call.begin, .end = call.end, .path = call.path, .depth = depth});
      draw(call.children, scale, depth + 1, boxes);
      before = 0;
    } else if (before != 0 && boxes[before - 1].begin / scale.cell() == call.begin / scale.cell()) {
      Box& box = boxes[before - 1];
      box.end = std::max(box.end, call.end);
      box.calls = (box.calls + 1) & Box::kMostCalls;
      if (length > box.longest) box.path = call.path;
      box.longest = std::max(box.longest, length);
    } else {
      boxes.push_back({.begin = call.begin,
                       .end = call.end,
                       .path = call.path,
                       .depth = depth,
                       .longest = length});
      before = boxes.size();
    }
  }
}

struct Step {
  bool enter = false;
  Nanoseconds time = 0;
  std::uint32_t path = 0;
};
void list_steps(const std::vector<CallNode>& calls, std::vector<Step>& steps) {
  for (const CallNode& call : calls) {
    steps.push_back({true, call.begin, call.path});
    list_steps(call.children, steps);
    steps.push_back({false, call.end, 0});
  }
}

std::string words(const std::vector<Box>& boxes) {
  std::string text;
  for (const Box& box : boxes) {
    text += std::to_string(box.begin) + '-' + std::to_string(box.end) + " path " +
            std::to_string(box.path) + " x" + std::to_string(box.calls) + " depth " +
            std::to_string(box.depth) + '\n';
  }
  return text;
}

TEST(HtmlScale, BoxesOfARunInPartsAreThoseOfTheRule) {
  constexpr std::uint32_t kPaths[] = {0, 1, 2, 3, 4};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::vector<CallNode> calls = random_calls(random, 0, 4000, 3);
    std::vector<Step> steps;
    list_steps(calls, steps);
    for (const std::size_t limit : {4u, 20u, 100u, 100'000u}) {
      std::optional<BoxRows> all;
      std::vector<Step> open;
      const std::size_t parts = 1 + random() % 5;
      std::vector<std::size_t> cuts = {0, steps.size()};
      for (std::size_t k = 1; k < parts; ++k) cuts.push_back(random() % (steps.size() + 1));
      std::sort(cuts.begin(), cuts.end());
      for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
        BoxRows part(1, limit);
        if (k > 0) part.begin_shut(0, static_cast<std::uint32_t>(open.size()));
        for (const Step& step : open) part.enter(0, step.time, step.path);
        if (k > 0) {
          part.enter(0, cuts[k], 0);  // the call with which the part before ends
          part.forget(0);
          part.opened(0);
        }
        for (std::size_t i = cuts[k]; i < cuts[k + 1]; ++i) {
          if (steps[i].enter) {
            part.enter(0, steps[i].time, steps[i].path);
            open.push_back(steps[i]);
          } else {
            part.exit(0, steps[i].time);
            open.pop_back();
          }
        }
        all ? all->add(part, kPaths) : void(all.emplace(std::move(part)));
      }
      TraceContent content;
      all->finish(4000, content);
      std::vector<Box> expected;
      unsigned level = 0;
      for (;; ++level) {  // the least that fits
        expected.clear();
        draw(calls, Scale(level), 0, expected);
        if (expected.size() <= limit) break;
      }
      EXPECT_EQ(content.calls_within, Scale(level).cell()) << "seed " << seed;
      EXPECT_EQ(words(content.boxes[0]), words(expected)) << "seed " << seed << " limit " << limit;
    }
  }
}

TEST(HtmlScale, BoxesAtAScaleFollowFromThoseAtAFinerOne) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::vector<CallNode> calls = random_calls(random, 0, 4000, 3);
    std::vector<Box> boxes;
    draw(calls, Scale(0), 0, boxes);
    for (unsigned level = 1; level < 14; ++level) {
      condense(boxes, Scale(level));
      std::vector<Box> expected;
      draw(calls, Scale(level), 0, expected);
      EXPECT_EQ(words(boxes), words(expected)) << "seed " << seed << " level " << level;
    }
  }
}

template <class T>
T random_thing(Random& random);
template <>
WaitBox random_thing(Random& random) {
  const Nanoseconds begin = random() % 5000, length = 1 + (random() & ((1U << random() % 10) - 1));
  return {.begin = begin,
          .end = begin + length,
          .waited = 1 + random() % length,
          .metric = static_cast<std::uint32_t>(random() % 3),
          .awaited = static_cast<std::uint32_t>(random() % 3),
          .ended = begin + random() % 4};
}
template <>
Band random_thing(Random& random) {
  const Nanoseconds begin = random() % 5000, length = 1 + (random() & ((1U << random() % 10) - 1));
  return {begin, begin + length, static_cast<std::uint32_t>(random() % 2),
          random() % 2 == 0 ? BandKind::kFence : BandKind::kAccess};
}
template <>
Stripe random_thing(Random& random) {
  const Nanoseconds begin = random() % 5000, length = 1 + (random() & ((1U << random() % 10) - 1));
  return {begin, begin + length, 1 + random() % length};
}

template <class T>
class HtmlCells : public ::testing::Test {
 protected:
  using Rows = std::vector<std::vector<T>>;
  static std::string words(const Rows& rows) {
    std::string text;
    for (const std::vector<T>& things : rows) {
      for (const T& thing : things) {
        std::apply(
            [&](auto... part) {
              ((text += std::to_string(static_cast<std::uint64_t>(part)) + ' '), ...);
            },
            order_of(thing));
        text += 'x' + std::to_string(number_of(thing)) + '\n';
      }
      text += '\n';
    }
    return text;
  }
};
using Things = ::testing::Types<WaitBox, Band, Stripe>;
TYPED_TEST_SUITE(HtmlCells, Things);

TYPED_TEST(HtmlCells, NeitherOrderNorCutsMatter) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    std::vector<std::pair<std::size_t, TypeParam>> things(400);
    for (auto& [row, thing] : things) {
      row = random() % 2;
      thing = random_thing<TypeParam>(random);
    }
    for (const std::size_t limit : {5u, 60u, 1000u}) {
      // By the rule: all at once, at the least scale that fits.
      typename TestFixture::Rows expected;
      for (unsigned level = 0;; ++level) {
        expected.assign(2, {});
        for (const auto& [row, thing] : things) expected[row].push_back(thing);
        for (auto& row : expected) condense(row, Scale(level));
        if (expected[0].size() + expected[1].size() <= limit || level == Scale::kMost) break;
      }
      std::shuffle(things.begin(), things.end(), random);
      const std::size_t parts = 1 + random() % 4;
      std::vector<Cells<TypeParam>> cells(parts, Cells<TypeParam>(2, limit));
      for (const auto& [row, thing] : things) cells[random() % parts].add(row, thing);
      for (std::size_t k = 1; k < parts; ++k) {
        cells[0].add(cells[k], [](const TypeParam& thing) { return thing; });
      }
      EXPECT_EQ(cells[0].seen(), 400u);
      EXPECT_EQ(this->words(cells[0].finish()), this->words(expected)) << "seed " << seed;
    }
  }
}

TYPED_TEST(HtmlCells, AScaleFollowsFromAFinerOne) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    typename TestFixture::Rows all(1), finer;
    for (int i = 0; i < 300; ++i) all[0].push_back(random_thing<TypeParam>(random));
    finer = all;
    for (unsigned level = 1; level < 14; ++level) {
      condense(finer[0], Scale(level));
      auto at_once = all;
      condense(at_once[0], Scale(level));
      EXPECT_EQ(this->words(finer), this->words(at_once)) << "seed " << seed << " level " << level;
    }
  }
}

TEST(HtmlScale, SumsOfPartsAreThoseOfTheRun) {
  constexpr std::uint32_t kPaths[] = {0};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const TraceLimits limits{.arrows = 10, .cells = 64, .pairs = 8, .fence_members = 16};
    std::vector<TraceSums> sums;  // of the run, and of parts
    for (int k = 0; k < 4; ++k) sums.emplace_back(2, 8, limits);
    for (std::uint32_t i = 0; i < 300; ++i) {
      const Nanoseconds begin = random() % 10'000, end = begin + 1 + random() % 3000;
      const Nanoseconds waited = random() % (2 * (end - begin));
      const Traffic cell{.from = static_cast<std::uint32_t>(random() % 8),
                         .to = static_cast<std::uint32_t>(random() % 8),
                         .window = static_cast<std::uint32_t>(random() % 2),
                         .region = static_cast<std::uint32_t>(random() % 2)};
      const std::uint64_t identity = identity_of(i, 1);
      const TransferArrow arrow{.bytes = i, .request = begin};
      for (TraceSums* const to : {&sums[0], &sums[1 + i / 100]}) {
        to->density.add_mpi(i % 2, begin, end);
        to->density.add_wait(i % 2, begin, end, waited);
        to->traffic.add(cell, i);
        if (to->messages.begin(identity)) to->messages.add(identity, {0, 1, begin, end, i});
        const auto origin = ProcessId{i % 3};
        const auto rmaid = RmaId{i};
        if (to->transfers.begin(origin, rmaid)) to->transfers.add(origin, rmaid, arrow, nullptr);
        to->transfers.end(origin, rmaid, end);
      }
    }
    sums[1].add(sums[2], kPaths);
    sums[1].add(sums[3], kPaths);
    TraceContent whole, parts;
    sums[0].finish(13'000, whole);
    sums[1].finish(13'000, parts);
    EXPECT_EQ(parts.density.waiting, whole.density.waiting);
    EXPECT_EQ(parts.density.mpi, whole.density.mpi);
    EXPECT_LE(whole.traffic.size(), limits.pairs);
    const auto words = [](const TraceContent& content) {
      std::string text = std::to_string(content.ranks_per_block) + '\n';
      for (const Traffic& t : content.traffic) {
        text += std::to_string(t.from) + ' ' + std::to_string(t.to) + ' ' +
                std::to_string(t.amount) + ' ' + std::to_string(t.count) + '\n';
      }
      for (const MessageArrow& m : content.messages) text += std::to_string(m.bytes) + ' ';
      for (const TransferArrow& t : content.transfers) {
        text += std::to_string(t.bytes) + '-' + std::to_string(t.end) + ' ';
      }
      return text;
    };
    EXPECT_EQ(words(parts), words(whole)) << "seed " << seed;
    EXPECT_EQ(parts.messages_seen, 300u);
    EXPECT_EQ(parts.transfers_seen, 300u);
    EXPECT_LE(whole.transfers.size(), limits.arrows);
    EXPECT_FALSE(whole.transfers.empty());
  }
}

// An epoch of a lock of all, and one of fences, that go on across two cuts.
TEST(HtmlScale, EpochsAcrossCutsAreOne) {
  constexpr std::uint32_t kPaths[] = {0};
  std::vector<TraceSums> parts;
  for (int k = 0; k < 3; ++k) parts.emplace_back(1, 1, TraceLimits());
  const TraceSums::Epoch lock{0, 0, BandKind::kLockAll}, fence{0, 1, BandKind::kFence};
  parts[0].since = {{lock, 10}, {fence, 20}};
  const TransferArrows::Epoch held{0, 0, earl::EpochKind::kLockAll};
  ASSERT_TRUE(parts[0].transfers.begin(ProcessId{0}, RmaId{0}));
  parts[0].transfers.add(ProcessId{0}, RmaId{0}, {.request = 11}, &held);
  parts[2].first_ends = {{lock, {0, 90}}, {fence, {0, 95}}};
  parts[2].since = {{fence, 95}};
  parts[2].transfers.passive(held, true, 0, {90, 5});
  parts[0].add(parts[1], kPaths);
  parts[0].add(parts[2], kPaths);
  TraceContent content;
  parts[0].finish(100, content);
  ASSERT_EQ(content.bands[0].size(), 2u);
  EXPECT_EQ(content.bands[0][0].begin, 10u);
  EXPECT_EQ(content.bands[0][0].end, 90u);
  EXPECT_EQ(content.bands[0][1].begin, 20u);
  EXPECT_EQ(content.bands[0][1].end, 95u);
  ASSERT_EQ(content.transfers.size(), 1u);
  EXPECT_EQ(content.transfers[0].origin_sync, 90u);
  EXPECT_EQ(content.transfers[0].origin_sync_length, 5u);
}

}  // namespace
}  // namespace kojak::html
