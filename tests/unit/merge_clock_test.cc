// Linear correction of clocks.
#include <gtest/gtest.h>

#include <cmath>

#include "merge/define/linear_clock.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using merge::ClockRecord;
using merge::linear_clocks;
using merge::LinearClock;

ClockRecord record(std::uint32_t rank, std::uint32_t node, std::vector<OffsetDef> offsets) {
  ClockRecord r;
  r.rank = rank;
  r.node = node;
  r.offsets = std::move(offsets);
  return r;
}

std::vector<LinearClock> clocks_of(const std::vector<ClockRecord>& records) {
  std::uint64_t without = 0;
  return linear_clocks(records, without);
}

TEST(MergeClock, TwoOffsetsGiveALine) {
  // At local 10 the master is 5 ahead, at local 110 it is 6 ahead: slope 0.01.
  const auto clocks =
      clocks_of({record(0, 0, {{{0}, {0}}}), record(1, 1, {{{10}, {5}}, {{110}, {6}}})});
  EXPECT_DOUBLE_EQ(clocks[1](10), 15);
  EXPECT_DOUBLE_EQ(clocks[1](110), 116);
  EXPECT_DOUBLE_EQ(clocks[1](60), 60 + 5.5);
  EXPECT_DOUBLE_EQ(clocks[0](42), 42);
}

TEST(MergeClock, OneOffsetIsAShift) {
  const auto clocks = clocks_of({record(0, 0, {{{0}, {0}}}), record(1, 1, {{{10}, {5}}}),
                                 record(2, 2, {{{10}, {5}}, {{10}, {7}}})});
  EXPECT_DOUBLE_EQ(clocks[1](1000), 1005);
  EXPECT_DOUBLE_EQ(clocks[2](1000), 1005) << "two offsets at the same time";
}

TEST(MergeClock, ANodeHasOneClock) {
  // Rank 2 was killed before the second measurement; rank 3 tells nothing at all.
  const auto clocks =
      clocks_of({record(0, 0, {{{0}, {0}}}), record(1, 1, {{{10}, {5}}, {{110}, {6}}}),
                 record(2, 1, {{{10}, {5}}}), record(3, 1, {})});
  for (const double t : {0.0, 60.0, 200.0}) {
    EXPECT_EQ(clocks[2](t), clocks[1](t));
    EXPECT_EQ(clocks[3](t), clocks[1](t));
  }
}

TEST(MergeClock, AProcessWithAClockOfItsOwnKeepsIt) {
  const auto clocks = clocks_of(
      {record(0, 0, {{{10}, {0}}, {{110}, {0}}}), record(1, 0, {{{12}, {-2}}, {{113}, {-3}}})});
  EXPECT_DOUBLE_EQ(clocks[1](12), 10);
  EXPECT_DOUBLE_EQ(clocks[1](113), 110);
}

TEST(MergeClock, TheFinalRateStretchesTimesBeforeTheOffset) {
  // The recorded seconds of node 0 are 1 % too short; those of node 1 are 2 % too short, and its
  // clock is 5 ahead in truth at the reference.
  ClockRecord master = record(0, 0, {{{100}, {0}}});
  master.rate = ClockRate{{100}, {1.01}};
  ClockRecord other = record(1, 1, {{{105}, {-5}}});
  other.rate = ClockRate{{105}, {1.02}};
  const auto clocks = clocks_of({master, other});
  EXPECT_DOUBLE_EQ(clocks[0](100), 100);
  EXPECT_DOUBLE_EQ(clocks[0](200), 201);
  EXPECT_DOUBLE_EQ(clocks[1](105), 100);
  EXPECT_NEAR(clocks[1](205), 202, 1e-12);
  // With two offsets the line is known without the rate: true time 200 is 199.0099 of the master.
  other.offsets.push_back({{203.04}, {-4.03}});  // master shows 199.01, which is true 200
  const auto lines = clocks_of({master, other});
  EXPECT_DOUBLE_EQ(lines[1](105), 100);
  EXPECT_NEAR(lines[1](203.04), 100 + 99.01 * 1.01, 1e-10);
}

TEST(MergeClock, NonsenseIsNotFollowed) {
  const double nan = std::nan("");
  const auto clocks =
      clocks_of({record(0, 0, {{{nan}, {5}}}), record(1, 1, {{{0}, {0}}, {{1}, {-3}}}),
                 record(2, 2, {{{0}, {2}}, {{1}, {HUGE_VAL}}})});
  EXPECT_EQ(clocks[0](7), 7);
  EXPECT_EQ(clocks[1](7), 7) << "a clock that runs backwards";
  EXPECT_EQ(clocks[2](7), 9);
}

// The same run, recorded by clocks that agree, and by one that is 100 s off and drifts by 50 ppm.
TEST(MergeClock, CorrectedTracesAreTheOnesOfAgreeingClocks) {
  const auto texts = [](double shift, double rate) {
    const auto at = [&](double t) { return std::to_string(shift + t * rate); };
    return "OFFSET ltime=" + at(0) + " offset=" + std::to_string(-shift) + "\n" +
           "ENTER lid=1 time=" + at(0) + " region=main\n" + "ENTER lid=1 time=" + at(3) +
           " region=MPI_Recv\n" + "MPI_RECV lid=1 time=" + at(5) + " slid=0 cid=0 tag=1 recvd=8\n" +
           "EXIT lid=1 time=" + at(5) + "\n" + "EXIT lid=1 time=" + at(10) + "\n" +
           "OFFSET ltime=" + at(10) + " offset=" + std::to_string(10 - (shift + 10 * rate)) + "\n";
  };
  const std::string sender = R"(
OFFSET ltime=0 offset=0
ENTER lid=0 time=0 region=main
ENTER lid=0 time=4 region=MPI_Send
MPI_SEND lid=0 time=4 dlid=1 cid=0 tag=1 sent=8
EXIT lid=0 time=4.5
EXIT lid=0 time=10
)";
  LocalRun agreeing(2), apart(2);
  agreeing.add(0, sender);
  agreeing.add(1, texts(0, 1));
  apart.add(0, sender);
  apart.add(1, texts(100, 1.00005));
  agreeing.merge();
  apart.merge();
  const auto a = support::merged_events(agreeing.merged), b = support::merged_events(apart.merged);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].lid, b[i].lid);
    EXPECT_NEAR(a[i].time, b[i].time, 2e-6) << "six decimals in the text";
  }
  // Without correction the receiver is 100 s late.
  merge::MergeOptions options = apart.options();
  options.clock = merge::ClockCorrection::kNone;
  apart.merge(options);
  const auto raw = support::merged_events(apart.merged);
  EXPECT_NEAR(raw.back().time, 110, 1e-2);
}

}  // namespace
}  // namespace kojak::test
