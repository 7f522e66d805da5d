// Polls that are made of several calls: a read, or several, and the flush that completes them.
#include <gtest/gtest.h>

#include "epilog/format/polls.h"

namespace kojak {
namespace {

constexpr PollScale kNsOfReads(1'000'000'000);

// A read of 100 ns, 300 ns until its flush, which takes 200, and 400 ns until the next read: of the
// 1,000 ns of a round 300 are in calls. A pause of 250 ns between the two calls is in no rest.
TEST(Polls, WhatLiesBetweenTheCallsOfAPollIsRest) {
  PollSeries series;
  PollMember flag;
  flag.kind = PollKind::kRead;
  flag.bytes = 4;
  series.begin(flag, 0, 600, kNsOfReads, 300);
  series.poll(flag, 1'000, 1'600, kNsOfReads, 300);
  EXPECT_EQ(series.slice().called, 600u);
  EXPECT_EQ(series.slice().rest, 700u);
  EXPECT_EQ(series.slice().least, 700u);
  series.pause(2'100, 2'350, PollSeries::kNoSleep, kNsOfReads);
  series.poll(flag, 2'000, 2'850, kNsOfReads, 550);
  EXPECT_EQ(series.slice().called, 900u);
  EXPECT_EQ(series.slice().rest, 1'400u);
  EXPECT_EQ(series.slice().pauses.length, 250u);
}

// Two flags that are read together are one round, and two polls.
TEST(Polls, WhatAPollAsksForTogetherIsOneRound) {
  PollSeries series;
  PollMember first, second;
  first.kind = second.kind = PollKind::kRead;
  second.place = 8;
  series.begin(first, 0, 600, kNsOfReads, 0);
  series.also(second, 50);
  series.also(second, 1'050);
  series.poll(first, 1'000, 1'600, kNsOfReads);
  EXPECT_EQ(series.slice().polls, 4u);
  EXPECT_EQ(series.slice().rounds, 1u);
  EXPECT_EQ(series.slice().rest, 400u);
  ASSERT_TRUE(series.end_slice({}, kNsOfReads));
  ASSERT_EQ(series.member_count(), 2u);
  EXPECT_EQ(series.member(0).count, 2u);
  EXPECT_EQ(series.member(1).count, 2u);
  EXPECT_EQ(series.member(1).last, 1'050u);
}

}  // namespace
}  // namespace kojak
