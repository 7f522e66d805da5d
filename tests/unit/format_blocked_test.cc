#include <gtest/gtest.h>

#include "epilog/format/blocked.h"

namespace kojak {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Nine tenths of 10 ms are 9 ms: who ran so long is not said to be kept from it, a nanosecond less
// is.
TEST(Blocked, NineTenthsAreEnough) {
  EXPECT_TRUE((ThreadTime{.length = 10 * kMs, .ran = 9 * kMs}.ran_through()));
  EXPECT_FALSE((ThreadTime{.length = 10 * kMs, .ran = 9 * kMs - 1}.ran_through()));
  // The clocks differ a little: more than all is all.
  EXPECT_TRUE((ThreadTime{.length = kMs, .ran = kMs + 500}.ran_through()));
  EXPECT_TRUE((ThreadTime{}.ran_through()));
}

TEST(Blocked, WhatIsNeitherRunNorWantedIsBlocked) {
  EXPECT_EQ((ThreadTime{.length = 10 * kMs, .ran = 2 * kMs, .wanted = 3 * kMs}.blocked()), 5 * kMs);
  EXPECT_EQ((ThreadTime{.length = 10 * kMs, .ran = 8 * kMs, .wanted = 3 * kMs}.blocked()), 0u);
}

// It is blocked for 8 of 10 ms: a pause of 4 ms is half of that.
TEST(Blocked, PausesFirstThenFaultsThenFiles) {
  ThreadTime time{.length = 10 * kMs, .ran = 2 * kMs, .switches = 4};
  EXPECT_EQ(time.kind(), BlockedKind::kOther);
  time.blocks = 8;
  EXPECT_EQ(time.kind(), BlockedKind::kFiles);
  // Half of the four times at which it gave the processor up it waited for a page.
  time.faults = 1;
  EXPECT_EQ(time.kind(), BlockedKind::kFiles);
  time.faults = 2;
  EXPECT_EQ(time.kind(), BlockedKind::kFaults);
  time.paused = 4 * kMs - 1;
  EXPECT_EQ(time.kind(), BlockedKind::kFaults);
  time.paused = 4 * kMs;
  EXPECT_EQ(time.kind(), BlockedKind::kPauses);
}

// One that had no processor and was not blocked at all: no pause is to blame.
TEST(Blocked, WithoutAProcessorNothingBlocks) {
  const ThreadTime time{.length = 10 * kMs, .ran = 5 * kMs, .wanted = 5 * kMs};
  EXPECT_FALSE(time.ran_through());
  EXPECT_EQ(time.blocked(), 0u);
  EXPECT_EQ(time.kind(), BlockedKind::kOther);
}

TEST(Blocked, KindsOfALaterVersionAreOther) {
  EXPECT_EQ(blocked_kind(2), BlockedKind::kFaults);
  EXPECT_EQ(blocked_kind(5), BlockedKind::kOther);
}

}  // namespace
}  // namespace kojak
