// What comparing finds: how long a culprit kept others waiting by doing something longer than they
// did, and who waited for whom when.
//
// A delay is an interval of a culprit with the stretches and waits of it that are to blame, each
// with its weight. Delays and weights lie in the order in which they are found, which is that of
// time. Nothing says whose they are and when they end: the waits and arrivals tell that, so whoever
// reads them goes over these, too. Memory: 16 or 20 bytes for each delay and 12 for each weight.
#pragma once

#include <span>

#include "epilog/format/io/log_memory.h"
#include "expert/causes/log.h"

namespace kojak::expert {

// One of two things by its number, and a time. 12 bytes: there are as many as waits, or more.
class TaggedTicks {
 public:
  TaggedTicks() = default;
  TaggedTicks(std::uint32_t number, bool second, Ticks ticks)
      : what_(number << 1 | (second ? 1u : 0u)), ticks_(ticks) {}
  std::uint32_t number() const { return what_ >> 1; }
  bool second() const { return (what_ & 1) != 0; }
  Ticks ticks() const { return ticks_; }
  void add(Ticks ticks) { ticks_ = ticks_ + ticks; }

 private:
  std::uint32_t what_ = 0;
  PackedTicks ticks_;
};
struct Share : TaggedTicks {
  using TaggedTicks::TaggedTicks;
  bool to_wait() const { return second(); }
  std::uint32_t target() const {
    return number();
  }  // a wait of the culprit, or a number of CauseLedger's
  Ticks weight() const { return ticks(); }
};
using Shares = std::span<const Share>;
struct Delay {
  Ticks from, to;  // the interval in which it was compared, or waited for
  Ticks whole;     // at least the sum of the weights
  LocationIndex culprit;
  std::uint32_t shares;  // their number
};
// What is kept of it: of a member of a group that was late,
struct LateOne {
  Ticks whole;
  std::uint32_t member, shares;
};
// and of one that is compared with another.
struct PairDelay {
  PackedTicks from, whole;
  std::uint32_t shares;
};
// What is done at a time: a wait on its own, a group with its waits, or only the coming together.
struct Moment : TaggedTicks {
  using TaggedTicks::TaggedTicks;
  bool group() const { return second(); }
  std::uint32_t index() const { return number(); }
  Ticks time() const { return ticks(); }
};
struct PairWithin {  // of a group: a pair with a common moment of its own
  std::uint32_t late, waiter;
  std::uint32_t delay;  // of its group's, from 0
};
struct GroupDelays {
  Ticks since = 0;                      // all are compared, but some pairs
  std::uint32_t delays = 0, pairs = 0;  // how many
};

// Between two times when what lies in files leaves memory.
inline constexpr std::size_t kMomentsAtOnce = 1 << 16;

struct DelayLog {
  explicit DelayLog(LogMemory& memory)
      : moments(memory),
        of_group(memory),
        pairs_within(memory),
        late_ones(memory),
        pairs(memory),
        shares(memory) {}
  void drop() {
    moments.drop();
    of_group.drop();
    pairs_within.drop();
    late_ones.drop();
    pairs.drop();
    shares.drop();
  }

  LogVector<Moment> moments;
  LogVector<GroupDelays> of_group;  // by group
  LogVector<PairWithin> pairs_within;
  LogVector<LateOne> late_ones;
  LogVector<PairDelay> pairs;
  LogVector<Share> shares;
};

}  // namespace kojak::expert
