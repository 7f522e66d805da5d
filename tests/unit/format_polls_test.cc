// The rule that joins polls: each threshold by hand, and random timelines of which it is known when
// they wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "epilog/format/polls.h"

namespace kojak {
namespace {

constexpr PollScale kNs(1'000'000'000);
constexpr std::uint64_t kUs = 1'000, kMs = 1'000'000;

// Polls of `call` ns with `rest` ns between them, up to a length; the first begins at 0.
PollSlice even_slice(PollTicks call, PollTicks rest, PollTicks length) {
  PollSlice slice;
  slice.call(0, call, kNs);
  while (slice.end < length) {
    const PollTicks enter = slice.end + rest;
    slice.round(rest, enter, enter + call, kNs);
  }
  return slice;
}
// Two polls: the rest between them, and all of it that is left of `length` in the second one.
PollSlice one_rest(PollTicks call, PollTicks rest, PollTicks length) {
  PollSlice slice;
  slice.call(0, call, kNs);
  slice.round(rest, call + rest, length, kNs);
  return slice;
}
PollClass class_of(const PollSlice& slice, const PollReading& reading = {}) {
  return classify(slice, reading, kNs).is;
}
PollReading ran(std::uint64_t ns, std::uint64_t switches = 0) {
  return {true, ns, switches};
}

TEST(Polls, ScalesNanosecondsToTicks) {
  EXPECT_EQ(kNs.slice, 1'000'000u);
  const PollScale two_and_a_half(2'500'000'000);
  EXPECT_EQ(two_and_a_half.rest, 1'250u);
  EXPECT_EQ(two_and_a_half.of_ns(3'600'000'000'000), 9'000'000'000'000u);  // an hour
  const PollScale slow(24'000'000);  // a counter of 24 MHz: 41.67 ns
  EXPECT_NEAR(static_cast<double>(slow.slice), 24'000, 1);
}

// g = 500 ns: of 99 rests of 500 ns nothing is work, and of 99 rests of 1,500 ns 99 us are.
TEST(Polls, ARestOfHalfAMicrosecondIsPolling) {
  EXPECT_EQ(classify(even_slice(100, 500, kMs), {}, kNs).work, 0u);
  EXPECT_EQ(class_of(even_slice(100, 500, kMs)), PollClass::kWaits);
  PollSlice slice = even_slice(100, 500, kMs);
  slice.round(501, slice.end + 501, slice.end + 601, kNs);
  EXPECT_EQ(classify(slice, {}, kNs).work, 1u);
}

// Of a slice of 100 us 10 us + 10 us may be work: a rest of 20.5 us holds 20 us.
TEST(Polls, AShortSliceMayWorkAFifth) {
  EXPECT_EQ(classify(one_rest(30 * kUs, 20'500, 100 * kUs), {}, kNs).work, 20 * kUs);
  EXPECT_EQ(class_of(one_rest(30 * kUs, 20'500, 100 * kUs)), PollClass::kWaits);
  EXPECT_EQ(class_of(one_rest(30 * kUs, 20'501, 100 * kUs)), PollClass::kWorks);
}

// Of 1 ms a tenth and 20 us: 120 us.
TEST(Polls, ALongSliceMayWorkATenthAndTwentyMicroseconds) {
  EXPECT_EQ(class_of(one_rest(30 * kUs, 120'500, kMs)), PollClass::kWaits);
  EXPECT_EQ(class_of(one_rest(30 * kUs, 120'501, kMs)), PollClass::kWorks);
}

// Rounds of 10 us and 0.2 us, all alike: the sum of rests is n times the least one.
TEST(Polls, RoundsThatAreAllAlikeAreEvenUpToTenMicroseconds) {
  EXPECT_EQ(class_of(even_slice(200, 10 * kUs, kMs)), PollClass::kEven);
  EXPECT_EQ(class_of(even_slice(200, 10 * kUs + 1, kMs)), PollClass::kWorks);
  // Every second rest is twice as long: of 75 us in ten rounds 1.1 x 10 x 5 = 55 are alike, and 20
  // of 77 us are more than a fifth.
  PollSlice slice = even_slice(200, 5 * kUs, 0);
  for (int i = 0; i < 10; ++i) {
    const PollTicks rest = i % 2 == 0 ? 5 * kUs : 10 * kUs;
    slice.round(rest, slice.end + rest, slice.end + rest + 200, kNs);
  }
  EXPECT_EQ(slice.rest, 75 * kUs);
  EXPECT_EQ(class_of(slice), PollClass::kWorks);
}

// A poll and a gap of 74 ms in which the thread had no processor: it ran for 0.3 ms in all, of
// which 0.25 ms are explained by nothing. That is less than a tenth of 75 ms, and more than half of
// 0.3 ms.
TEST(Polls, WorkIsNoMoreThanTheProcessorTimeThatPollingLeaves) {
  const PollSlice slice = one_rest(10 * kUs, 74 * kMs, 75 * kMs);
  // Explained: 10 us and 20 us of the calls, 0.5 us of the rest.
  EXPECT_EQ(classify(slice, ran(300 * kUs), kNs).work, 269'500u);
  EXPECT_EQ(class_of(slice, ran(300 * kUs)), PollClass::kWorks);
  EXPECT_EQ(class_of(slice, ran(80 * kUs + 500)), PollClass::kWaits);  // 50 us of work
  EXPECT_EQ(class_of(slice, ran(80 * kUs + 501)), PollClass::kWorks);  // one ns more
  EXPECT_EQ(class_of(slice, ran(20 * kUs)), PollClass::kWaits);
  EXPECT_EQ(class_of(slice), PollClass::kWorks);  // unknown: all of the gap
}

// It gave the processor up by itself in the rest, which a file can make it do.
TEST(Polls, WhatBlocksWithoutAPauseWorks) {
  PollSlice slice = one_rest(10 * kUs, 74 * kMs, 75 * kMs);
  EXPECT_EQ(class_of(slice, ran(20 * kUs, 1)), PollClass::kWorks);
  slice.pauses.count = 1;
  EXPECT_EQ(class_of(slice, ran(20 * kUs, 1)), PollClass::kWaits);
}

PollMember asks(std::uint32_t request, std::uint32_t site = 1) {
  PollMember member;
  member.kind = PollKind::kRequest;
  member.site = site;
  member.request = request;
  member.requests = 1;
  return member;
}

// A thread that makes polls and ends slices as the measurement does.
struct Poller {
  PollSeries series;
  PollTicks now = 0;
  std::uint64_t cpu = 0, at_slice = 0;
  bool has_reading = false;
  struct Done {
    PollSums sums;
    std::vector<PolledMember> members;
  };
  std::vector<Done> done;

  void note() {
    Done d{series.sums(), {}};
    for (std::uint32_t i = 0; i < series.member_count(); ++i) {
      if (series.member(i).count != 0) d.members.push_back(series.member(i));
    }
    done.push_back(d);
  }
  PollReading read() {
    PollReading reading;
    if (has_reading) reading = ran(cpu - at_slice);
    at_slice = cpu;
    has_reading = true;
    return reading;
  }
  void poll(PollTicks rest, PollTicks call, const PollMember& what) {
    const PollTicks enter = now + rest;
    now = enter + call;
    cpu += rest + call;
    if (!series.is_open()) {
      has_reading = false;
      return series.begin(what, enter, now, kNs);
    }
    if (!series.poll(what, enter, now, kNs)) return;
    if (!series.end_slice(read(), kNs)) {
      note();
      series.turn(kNs);
    }
  }
  void find(PollTicks rest, PollTicks call) {
    const PollTicks enter = now + rest;
    now = enter + call;
    cpu += rest + call;
    if (series.slice().polls != 0 && !series.end_slice_at(enter, now, read_at_find(), kNs)) {
      note();
      series.turn(kNs);
    }
    note();
    series.close();
  }
  PollReading read_at_find() { return has_reading ? read() : PollReading{}; }
};

TEST(Polls, ASeriesHasItsSumsAndMembers) {
  Poller p;
  p.now = 1'000;
  p.poll(0, 100, asks(7));    // 1,000 to 1,100
  p.poll(50, 100, asks(8));   // 1,150 to 1,250
  p.poll(300, 100, asks(7));  // 1,550 to 1,650
  p.find(20, 40);
  ASSERT_EQ(p.done.size(), 1u);
  const PollSums& s = p.done[0].sums;
  EXPECT_EQ(s.begin, 1'000u);
  EXPECT_EQ(s.end, 1'650u);
  EXPECT_EQ(s.polls, 3u);
  EXPECT_EQ(s.called, 300u);
  EXPECT_EQ(s.rest, 350u);
  EXPECT_EQ(s.least, 50u);
  EXPECT_EQ(s.is, PollClass::kWaits);
  EXPECT_FALSE(s.read.known);
  ASSERT_EQ(p.done[0].members.size(), 2u);
  EXPECT_EQ(p.done[0].members[0].count, 2u);
  EXPECT_EQ(p.done[0].members[0].first, 1'000u);
  EXPECT_EQ(p.done[0].members[0].last, 1'550u);
  EXPECT_EQ(p.done[0].members[1].count, 1u);
  EXPECT_EQ(p.done[0].members[1].first, 1'150u);
}

// 20 us asked for, 65 us slept: the pause is no rest, and all of it is asleep. Of 300 us only 120.
TEST(Polls, PausesAreNoRests) {
  PollSeries s;
  s.begin(asks(1), 0, 100, kNs);
  s.pause(150, 65'150, 20 * kUs, kNs);
  s.poll(asks(1), 65'200, 65'300, kNs);
  EXPECT_EQ(s.slice().rest, 100u);  // 50 before the pause, 50 behind it
  EXPECT_EQ(s.slice().pauses.length, 65 * kUs);
  EXPECT_EQ(s.slice().pauses.asleep, 65 * kUs);
  EXPECT_EQ(s.slice().pauses.explained, 5 * kUs);
  s.pause(65'300, 365'300, 20 * kUs, kNs);
  s.pause(365'300, 366'300, PollSeries::kNoSleep, kNs);  // a yield
  EXPECT_EQ(s.slice().pauses.count, 1u);                 // no round has them yet
  s.poll(asks(1), 366'300, 366'400, kNs);
  EXPECT_EQ(s.slice().pauses.count, 3u);
  EXPECT_EQ(s.slice().pauses.asleep, 65 * kUs + 120 * kUs);
  EXPECT_EQ(s.slice().pauses.explained, 11 * kUs);
}

TEST(Polls, TheFirstSliceIsShort) {
  PollSeries s;
  s.begin(asks(1), 0, 100, kNs);
  EXPECT_FALSE(s.poll(asks(1), 200, 49'999, kNs));
  EXPECT_TRUE(s.poll(asks(1), 50'000, 50'000, kNs));
  EXPECT_TRUE(s.end_slice({}, kNs));
  EXPECT_FALSE(s.poll(asks(1), 50'100, 1'049'999, kNs));
  EXPECT_TRUE(s.poll(asks(1), 1'050'000, 1'050'000, kNs));
}

// More things asked for than members have room for: four in place, sixty in a table.
TEST(Polls, MoreMembersAreOne) {
  PollSeries s;
  s.begin(asks(0), 0, 1, kNs);
  for (std::uint32_t i = 1; i < 6; ++i) s.poll(asks(i), i, i + 1, kNs);
  EXPECT_EQ(s.member_count(), 4u);
  EXPECT_TRUE(s.wants_table());
  PollSeries::Table table;
  s.use(&table);
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 100; ++i) s.poll(asks(i), 10, 11, kNs);
  }
  s.end_slice({}, kNs);
  EXPECT_EQ(s.member_count(), 64u);
  std::uint64_t sum = s.others().count;
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(s.member(i).is.request, i);
    EXPECT_EQ(s.member(i).count, i < 4 ? 3u : 2u);
    sum += s.member(i).count;
  }
  EXPECT_EQ(s.others().count, 2u + 2 * 36);
  EXPECT_EQ(s.others().is.request, kAbsent) << "of none of them";
  EXPECT_EQ(s.others().is.site, kAbsent);
  EXPECT_EQ(s.others().is.place, raw(kUnknown64));
  EXPECT_EQ(sum, s.sums().polls);
  EXPECT_TRUE(s.asked_for(asks(63, 99)));  // wherever in the code
  EXPECT_FALSE(s.asked_for(asks(64)));
}

// Slices of a series by their classes, each 1 ms but the first: of what `work` there is.
struct Turns {
  PollSeries s;
  PollTicks now = 0;
  std::vector<PollSums> ended;

  Turns() { s.begin(asks(1), 0, 10, kNs), now = 10; }
  // One slice of `length` with this work in it. The first one of a series need not be 50 us long.
  void slice(PollTicks length, PollTicks work) {
    const PollTicks end = s.slice().begin + length;
    const PollTicks enter = now + (work == 0 ? 0 : work + 500);
    s.poll(asks(1), enter, end, kNs);
    now = end;
    if (s.end_slice({}, kNs)) return;
    ended.push_back(s.sums());
    s.turn(kNs);
  }
  std::vector<PollTicks> ends() const {
    std::vector<PollTicks> ends;
    for (const PollSums& sums : ended) ends.push_back(sums.end);
    return ends;
  }
};
using Ends = std::vector<PollTicks>;

// 30 ms that wait; slices with 0.9 and 0.9 ms of work hold less than 2 ms together, and 1.8 ms is
// no more than a tenth of 32; a third one would make 2.7.
TEST(Polls, SomeWorkIsTakenIntoASeriesThatWaits) {
  Turns t;
  for (int i = 0; i < 30; ++i) t.slice(kMs, 0);
  t.slice(kMs, 900 * kUs);
  t.slice(kMs, 900 * kUs);
  EXPECT_TRUE(t.ended.empty());
  t.slice(kMs, 900 * kUs);
  EXPECT_EQ(t.ends(), Ends{32 * kMs});
  EXPECT_EQ(t.ended[0].work, 1'800 * kUs);
  EXPECT_EQ(t.ended[0].is, PollClass::kWaits);
  EXPECT_EQ(t.s.sums().is, PollClass::kWorks);
  EXPECT_EQ(t.s.sums().begin, 32 * kMs);
}

// A slice that waits between them begins the row anew, but all work counts for the tenth: 0.9 ms
// fit into 9 ms, 1.8 not into 12.
TEST(Polls, AllWorkOfASeriesThatWaitsIsATenth) {
  Turns t;
  for (int i = 0; i < 8; ++i) t.slice(kMs, 0);
  t.slice(kMs, 900 * kUs);
  t.slice(kMs, 0);
  t.slice(kMs, 0);
  EXPECT_TRUE(t.ended.empty());
  t.slice(kMs, 900 * kUs);
  EXPECT_EQ(t.ends(), Ends{11 * kMs});
}

TEST(Polls, TwoSlicesThatWaitTurnASeriesThatWorks) {
  Turns t;
  t.slice(kMs, 900 * kUs);
  t.slice(kMs, 900 * kUs);
  t.slice(kMs, 0);  // one is taken in
  t.slice(kMs, 900 * kUs);
  t.slice(2 * kMs, 0);
  EXPECT_TRUE(t.ended.empty());
  t.slice(kMs, 0);
  EXPECT_EQ(t.ends(), Ends{6 * kMs});
  EXPECT_EQ(t.s.sums().is, PollClass::kWaits);
  EXPECT_EQ(t.s.sums().begin, 6 * kMs);
}

TEST(Polls, ALongSliceThatWaitsTurnsASeriesThatWorksAtOnce) {
  Turns t;
  t.slice(kMs, 900 * kUs);
  t.slice(2 * kMs + 1, 0);
  EXPECT_EQ(t.ends(), Ends{kMs});
}

// What an ended series had, and what the next one has, is all that there was.
TEST(Polls, ATurnSharesOutTheMembers) {
  PollSeries s;
  s.begin(asks(1), 0, 60 * kUs, kNs);
  ASSERT_TRUE(s.end_slice({}, kNs));
  EXPECT_EQ(s.sums().is, PollClass::kWaits);
  s.poll(asks(2), 60 * kUs, 61 * kUs, kNs);
  s.poll(asks(1), 900 * kUs, 1'060 * kUs, kNs);
  ASSERT_FALSE(s.end_slice({}, kNs));
  EXPECT_EQ(s.member(0).count, 1u);
  EXPECT_EQ(s.member(0).last, 0u);
  EXPECT_EQ(s.member(1).count, 0u);  // of the slice that turns alone
  s.turn(kNs);
  ASSERT_EQ(s.member_count(), 2u);
  EXPECT_EQ(s.member(0).is.request, 1u);
  EXPECT_EQ(s.member(0).count, 1u);
  EXPECT_EQ(s.member(0).first, 900 * kUs);
  EXPECT_EQ(s.member(1).first, 60 * kUs);
  EXPECT_EQ(s.sums().polls, 2u);
  EXPECT_EQ(s.sums().is, PollClass::kWorks);
  EXPECT_EQ(s.sums().least, 0u);
}

// A test, 0.3 s of work, and the test that finds it: that has not waited.
TEST(Polls, WorkBeforeTheFindIsJudgedWithTheLastSlice) {
  Poller p;
  p.poll(0, 100, asks(1));
  p.find(300 * kMs, 100);
  ASSERT_EQ(p.done.size(), 1u);
  EXPECT_EQ(p.done[0].sums.is, PollClass::kWorks);
  EXPECT_EQ(p.done[0].sums.end, 100u);
  EXPECT_EQ(p.done[0].sums.rest, 0u);  // of failing polls
}

// A random thread: stretches that wait in some pace, and others that work in pieces between two
// polls. Interrupts take 3 to 80 us each 4 ms, and now and then it loses its processor.
class RandomPolls {
 public:
  explicit RandomPolls(std::uint32_t seed) : random_(seed) {}

  void run() {
    preempts_ = below(3) == 0;
    const unsigned stretches = 2 + static_cast<unsigned>(below(4));
    for (unsigned i = 0; i < stretches; ++i) {
      const PollTicks end = p_.now + between(20, 200) * kMs;
      const PollTicks call = between(60, 1'000);
      const PollTicks begin = p_.now;
      if ((i ^ first_) % 2 == 0) {
        const auto pace = below(3);
        while (p_.now < end) wait(call, pace);
        waited += p_.now - begin;
      } else {
        // 11 us to 10 ms, so that it is not an event loop's round.
        const PollTicks piece = between(11, below(2) == 0 ? 100 : 10'000) * kUs;
        longest = std::max(longest, piece * 3 / 2);
        while (p_.now < end) turn(piece / 2 + below(piece), call);
        worked += p_.now - begin;
      }
      ++edges;
    }
    p_.find(10, call_of_find_);
    for (const Poller::Done& d : p_.done) {
      polls += d.sums.polls;
      if (d.sums.is == PollClass::kWaits) claimed += d.sums.end - d.sums.begin;
    }
  }

  PollTicks waited = 0, worked = 0, claimed = 0, gaps = 0, longest = 0;
  std::uint64_t polls = 0, made = 0;
  unsigned edges = 0;

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t between(std::uint64_t a, std::uint64_t b) { return a + below(b - a + 1); }

  // What comes from outside while something takes `length`: longer, but not by our processor time.
  PollTicks disturbed(PollTicks length) {
    PollTicks more = 0;
    if (p_.now + length >= next_interrupt_) {
      next_interrupt_ += 4 * kMs;
      const PollTicks interrupt = between(3, 80) * kUs;
      more += interrupt;
      p_.cpu += interrupt;  // the kernel counts it as ours
    }
    if (preempts_ && below(20'000'000) < length) {
      const PollTicks gap = between(100, 100'000) * kUs;
      more += gap;
      gaps += gap;
    }
    return more;
  }
  void turn(PollTicks rest, PollTicks call) {
    const PollTicks more = disturbed(rest + call);
    if (below(2) == 0) {
      p_.now += more;
      p_.poll(rest, call, asks(1));
    } else {
      const std::uint64_t cpu = p_.cpu;
      p_.poll(rest, call + more, asks(1));
      p_.cpu = cpu + rest + call;
    }
    ++made;
  }
  void wait(PollTicks call, std::uint64_t pace) {
    if (pace != 0 && p_.series.is_open()) {
      const PollTicks length = pace == 1 ? between(500, 900) : between(55, 90) * kUs;
      p_.series.pause(p_.now, p_.now + length, pace == 1 ? PollSeries::kNoSleep : 20 * kUs, kNs);
      p_.now += length;
      p_.cpu += pace == 1 ? length : 4 * kUs;
    }
    turn(between(5, 60), call);
  }

  std::mt19937 random_;
  Poller p_;
  bool preempts_ = false;
  unsigned first_ = static_cast<unsigned>(below(2));
  PollTicks next_interrupt_ = 0, call_of_find_ = 100;
};

// Of a wait at most a tenth may be work. At each edge one slice has both, and a series takes in
// what is less than 2 ms of work, or one slice: each of those lasts 1 ms and the longest piece of
// work. What was preempted may count for either.
TEST(Polls, ClaimsOfRandomTimelinesLieWithinTheBounds) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    RandomPolls r(seed);
    r.run();
    EXPECT_EQ(r.polls, r.made) << seed;
    const PollTicks edges = r.edges * (2 * kMs + 2 * (kMs + r.longest)) + r.gaps;
    EXPECT_LE(r.claimed, r.waited * 10 / 9 + edges) << seed << " worked " << r.worked;
    EXPECT_GE(r.claimed + r.waited / 10 + edges, r.waited) << seed << " worked " << r.worked;
  }
}

}  // namespace
}  // namespace kojak
