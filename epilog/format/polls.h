// Polls: calls that asked whether something has come and found that it has not. Which of them
// belong together, and whether the loop that they stand in waits or works.
//
// The measurement joins polls while they are made, the merge those that stand singly in a trace:
// both by this rule, which reads no clock. Times are whole numbers of ticks, which are whatever the
// caller counts; PollScale says how long one is. (Recorded calls may not compute with
// floating-point numbers.)
//
// A round goes from one poll's exit to the next one's; its rest is what lies between the two calls,
// less the pauses in it (functions by which a program gives the processor away or sleeps). A slice
// is about a millisecond of polls. It waits if the processor time that polling itself does not
// explain is short: see classify(). A series is a run of slices of one class, and a member of it is
// one poll by its kind, place in the code and arguments.
//
// A PollSeries belongs to one thread, needs no constructor (all zero is a closed one) and owns
// nothing; it never allocates. Nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "epilog/format/field_values.h"

namespace kojak {

// All thresholds, in nanoseconds or as a share.
struct PollThresholds {
  std::uint64_t rest = 500;                 // so much of a rest is part of polling
  std::uint64_t slice = 1'000'000;          // a slice is full then
  std::uint64_t first_slice = 50'000;       // the first one of a series
  std::uint64_t explained_call = 20'000;    // processor time that a call explains at most
  std::uint64_t explained_pause = 5'000;    // and a pause
  std::uint64_t late_wakeup = 100'000;      // a sleep may last so much longer than asked for
  std::uint64_t work_share = 10;            // a slice that waits works a tenth of it at most
  std::uint64_t work_more = 20'000;         // and a second tenth, but no more than this
  std::uint64_t unseen_work = 50'000;       // work below this is none beside others' time
  std::uint64_t even_rest = 10'000;         // rounds that are all alike have no longer rest
  std::uint64_t even_tenths = 11;           // alike: 1.1 times the least rest
  std::uint64_t work_in_a_row = 2'000'000;  // slices of a series that waits
  std::uint64_t taken_slice = 2'000'000;    // one that waits, in a series that does not
  std::uint64_t long_call = 1'000'000;  // of a poll of one-sided operations: told by itself, too
};
inline constexpr PollThresholds kPollThresholds;

using PollTicks = std::uint64_t;
__extension__ using WideTicks = unsigned __int128;

// The thresholds in ticks.
struct PollScale {
  std::uint64_t ticks_per_ns = 0, ns_per_tick = 0;  // in 2^-32
  PollTicks rest = 0, slice = 0, first_slice = 0, explained_call = 0, explained_pause = 0;
  PollTicks late_wakeup = 0, work_more = 0, unseen_work = 0, even_rest = 0;
  PollTicks work_in_a_row = 0, taken_slice = 0, long_call = 0;

  constexpr PollScale() = default;
  constexpr explicit PollScale(std::uint64_t ticks_per_second) {
    // Below 2^32 ticks a second fit; a faster counter is not there.
    ticks_per_ns = (ticks_per_second << 31) / 500'000'000;
    ns_per_tick = (std::uint64_t{1'000'000'000} << 32) / ticks_per_second;
    constexpr PollThresholds k;
    rest = of_ns(k.rest);
    slice = of_ns(k.slice);
    first_slice = of_ns(k.first_slice);
    explained_call = of_ns(k.explained_call);
    explained_pause = of_ns(k.explained_pause);
    late_wakeup = of_ns(k.late_wakeup);
    work_more = of_ns(k.work_more);
    unseen_work = of_ns(k.unseen_work);
    even_rest = of_ns(k.even_rest);
    work_in_a_row = of_ns(k.work_in_a_row);
    taken_slice = of_ns(k.taken_slice);
    long_call = of_ns(k.long_call);
  }
  constexpr std::uint64_t rounded_up_ns(PollTicks ticks) const {
    return static_cast<std::uint64_t>((static_cast<WideTicks>(ticks) * ns_per_tick + 0xFFFFFFFF) >>
                                      32);
  }
  constexpr PollTicks of_ns(std::uint64_t ns) const {
    return static_cast<PollTicks>(static_cast<WideTicks>(ns) * ticks_per_ns >> 32);
  }
};

// What a thread had of its processor in a slice.
struct PollReading {
  bool known = false;
  std::uint64_t ran = 0;       // nanoseconds
  std::uint64_t switches = 0;  // how often it gave the processor up
};

// Times of pauses.
struct PollPauses {
  std::uint64_t count = 0;
  PollTicks length = 0;
  PollTicks explained = 0;
  PollTicks asleep = 0;

  constexpr void add(const PollPauses& other) {
    count += other.count;
    length += other.length;
    explained += other.explained;
    asleep += other.asleep;
  }
};
constexpr PollTicks least_of(PollTicks a, PollTicks b) {
  return a < b ? a : b;
}
constexpr PollTicks without(PollTicks a, PollTicks b) {
  return a > b ? a - b : 0;
}

struct PollSlice {
  PollTicks begin = 0, end = 0;
  std::uint64_t polls = 0;
  std::uint64_t rounds = 0;  // that have a rest: all but the first poll's of a series
  PollTicks called = 0;
  PollTicks explained = 0;  // processor time, by the calls
  PollTicks rest = 0;
  PollTicks over = 0;  // of each rest what lies above the threshold
  PollTicks least = ~PollTicks{0};
  PollPauses pauses;

  constexpr void round(PollTicks length_of_rest, PollTicks enter, PollTicks exit,
                       const PollScale& scale) {
    ++rounds;
    rest += length_of_rest;
    over += without(length_of_rest, scale.rest);
    least = least_of(least, length_of_rest);
    call(enter, exit, scale);
  }
  constexpr void call(PollTicks enter, PollTicks exit, const PollScale& scale) {
    ++polls;
    called += exit - enter;
    explained += least_of(exit - enter, scale.explained_call);
    end = exit;
  }
};

struct PollVerdict {
  PollClass is{};  // none yet
  PollTicks work = 0;
};
PollVerdict classify(const PollSlice& slice, const PollReading& reading, const PollScale& scale);

// One poll by its kind, place and arguments. What a kind has not is 0 everywhere.
struct PollMember {
  PollKind kind{};
  std::uint8_t bytes = 0;
  std::uint32_t site = 0;
  std::uint32_t request = 0, requests = 0;  // of an array: the first pending
  std::uint32_t peer = 0, comm = 0, tag = 0;
  std::uint32_t window = 0, target = 0;
  std::uint64_t place = 0;  // of a partitioned message 1 + the part; of a window the byte
  std::uint64_t value = 0, other = 0;

  // The same thing is asked for, wherever in the code.
  constexpr bool asks_as(const PollMember& b) const { return differs(b) == 0; }
  constexpr bool operator==(const PollMember& b) const {
    return (differs(b) | (site ^ b.site)) == 0;
  }

 private:
  // Without branches, since it is asked of each poll.
  constexpr std::uint64_t differs(const PollMember& b) const {
    const std::uint32_t narrow =
        (request ^ b.request) | (requests ^ b.requests) | (peer ^ b.peer) | (comm ^ b.comm) |
        (tag ^ b.tag) | (window ^ b.window) | (target ^ b.target) |
        (bytes ^ std::uint32_t{b.bytes}) |
        (static_cast<std::uint32_t>(kind) ^ static_cast<std::uint32_t>(b.kind));
    return (place ^ b.place) | narrow;
  }
};

// What a series, or a part, has had of a member.
struct PolledMember {
  PollMember is;
  std::uint64_t count = 0;
  PollTicks first = 0, last = 0;  // enter of its first poll, and of its last one
  // Of the slice that is open.
  std::uint64_t slice_count = 0;
  PollTicks slice_first = 0, slice_last = 0;
};

struct PollSums {
  PollTicks begin = 0, end = 0;
  std::uint64_t polls = 0;
  PollTicks called = 0, rest = 0, least = ~PollTicks{0};
  PollPauses pauses;
  PollReading read;  // of the slices that have one
  PollTicks work = 0;
  PollClass is{};  // none yet

  void add(const PollSlice& slice, const PollReading& reading, PollTicks work_of_slice);
};

class PollSeries {
 public:
  // Members beyond the first ones need a table, which the caller gives. Without it, or beyond it,
  // all are counted as one, "others", of the kind of the first of them.
  static constexpr std::uint32_t kInPlace = 4, kInTable = 60;
  using Table = std::array<PolledMember, kInTable>;

  bool is_open() const { return open_; }
  // The exit of the last poll.
  PollTicks last() const { return slice_.end; }
  const PollSums& sums() const { return sums_; }
  const PollSlice& slice() const { return slice_; }
  std::uint32_t member_count() const { return members_; }
  const PolledMember& member(std::uint32_t i) const {
    return i < kInPlace ? in_place_[i] : (*table_)[i - kInPlace];
  }
  const PolledMember& others() const { return others_; }
  // What was asked for by some poll of the series.
  bool asked_for(const PollMember& what) const;

  void begin(const PollMember& what, PollTicks enter, PollTicks exit, const PollScale& scale,
             PollTicks inside = 0);
  // One more poll. True if the slice is full: end_slice() comes next.
  // `inside`: of its time, what lies between two calls that it is made of, pauses included.
  bool poll(const PollMember& what, PollTicks enter, PollTicks exit, const PollScale& scale,
            PollTicks inside = 0) {
    if (pending_.count != 0) [[unlikely]]
      take_pauses();
    slice_.round(without(enter + inside, from_), enter + inside, exit, scale);
    from_ = exit;
    PolledMember* m = recent_;
    if (!(m->is == what)) [[unlikely]]
      m = &find(what);
    count(*m, enter);
    return exit - slice_.begin >= limit_;
  }
  // Something else that the poll in hand asked for, before poll() or behind begin().
  void also(const PollMember& what, PollTicks enter) {
    ++slice_.polls;
    count(find(what), enter);
  }
  // A pause between polls; `asked`: a sleep of at most so much, or kNoSleep.
  static constexpr PollTicks kNoSleep = ~PollTicks{0};
  void pause(PollTicks begin, PollTicks end, PollTicks asked, const PollScale& scale);
  // Time between polls that is none of the program's.
  void leave_out(PollTicks length) { from_ += length; }

  // The open slice is over. False: the series turns: sums() and members are those of the one that
  // ends, without this slice, and turn() begins the next one with it.
  bool end_slice(const PollReading& reading, const PollScale& scale);
  // The same before a find, whose round is judged with the slice, and in no sum.
  bool end_slice_at(PollTicks enter, PollTicks exit, const PollReading& reading,
                    const PollScale& scale);
  void turn(const PollScale& scale);
  void close() { open_ = false; }

  // Before begin(), or between two slices.
  void use(Table* table) { table_ = table; }
  bool wants_table() const { return table_ == nullptr && others_.count + others_.slice_count != 0; }

 private:
  PolledMember& changed(std::uint32_t i) {
    return i < kInPlace ? in_place_[i] : (*table_)[i - kInPlace];
  }
  std::uint32_t most_members() const { return table_ == nullptr ? kInPlace : kInPlace + kInTable; }
  static void count(PolledMember& m, PollTicks enter) {
    if (m.slice_count++ == 0) m.slice_first = enter;
    m.slice_last = enter;
  }
  PolledMember& find(const PollMember& what);
  void take_pauses();
  bool takes(const PollVerdict& verdict, PollTicks slice_end, const PollScale& scale);
  bool settle(const PollVerdict& verdict, PollTicks judged_end, const PollReading& reading,
              const PollScale& scale);
  void take_slice(const PollReading& reading, const PollVerdict& verdict);
  void next_slice(PollTicks limit);

  bool open_ = false;
  std::uint8_t waiting_ = 0;  // slices that wait in a row, taken into a series that does not
  std::uint32_t members_ = 0;
  std::uint32_t recent_at_ = 0;  // its number, where it is none of the others
  PollTicks limit_ = 0;          // the slice is full then
  PollTicks from_ = 0;           // where the rest of the round in hand begins, pauses taken out
  PollTicks row_ = 0;  // work of the slices in a row that do not wait, taken into one that does
  PolledMember* recent_ = nullptr;
  std::uint64_t known_[4] = {};  // of members, so that most others are told without a search
  PollSlice slice_;
  PollPauses pending_;  // since the last poll
  PollSums sums_;
  PollVerdict turned_;
  PollReading turned_reading_;
  PolledMember in_place_[kInPlace];
  PolledMember others_;
  Table* table_ = nullptr;
};

}  // namespace kojak
