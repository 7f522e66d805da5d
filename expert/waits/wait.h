// A wait: a call that waited, for how long, for whom, and in which operation.
//
// Patterns know the partner when they compute a severity, and say so there:
//   out.add(LateSender{}, receive, severity, enter_of(message.send_call));
// That becomes a Wait, and all who listen get it (stream.h): every wait that is counted, in the
// order in which the patterns decide. A call that waited for several (holders of a lock, targets
// without progress) gives a Wait for each of them, with its part of the time.
// Plain values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "earl/call.h"
#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

inline constexpr std::uint32_t kNoLocation = std::numeric_limits<std::uint32_t>::max();

// The call whose enter or exit ended a wait.
struct EndedBy {
  LocationIndex location = kNoLocation;
  CallPathIndex call_path = 0;
  Seconds time;          // when it ended the wait
  bool at_exit = false;  // by its exit, else by its enter
  // From then on it did nothing that the waiting needed, if known: what it did later made it late.
  Seconds idle_since{std::numeric_limits<double>::infinity()};
  bool never = false;  // it was awaited, but neither that call nor the wait ended

  bool known() const { return location != kNoLocation && !never; }
  bool operator==(const EndedBy&) const = default;
};
inline EndedBy enter_of(const earl::OpenCall& call) {
  return {call.index, raw(call.cnode), call.enter};
}
inline EndedBy exit_of(const earl::Call& call) {
  return {call.index, raw(call.cnode), call.exit, true};
}

// What several waits belong to: the n-th fence of a window, one access transaction, one message,
// one collective of a communicator, one holder's turn at a lock, one absence of a process from
// MPI. Never calls that merely overlap in time.
struct Operation {
  enum class Object : std::uint8_t {
    kNothing,
    kCommunicator,
    kWindow,
    kLock,
    kAllocation  // of ARMCI's memory
  } object = Object::kNothing;
  // All waits of an operation come one after the other; else (locks, progress) they may come at
  // any time, and only the number tells which belong together.
  bool scattered = false;
  std::uint32_t id = 0;  // of the communicator, window, lock or allocation
  std::uint32_t process =
      kNoLocation;           // whose memory it is about: a lock's target, an exposure's own
  std::uint64_t number = 0;  // two waits of one metric and number are of one operation
  bool operator==(const Operation&) const = default;
};

// One that has come to an operation in which each waits for all, and its call.
struct Arrival {
  LocationIndex location = 0;
  Seconds enter, exit;
  std::uint64_t exit_pos = 0;
};

// Of a call that waited for several: the times within which it waited for one of them. Parts of one
// wait are disjoint.
struct WaitPart {
  earl::Interval when;
  EndedBy ended_by;
  Operation operation;
};

struct Wait {
  MetricIndex metric = 0;
  CallPathIndex call_path = 0;
  LocationIndex location = 0;
  Seconds enter, exit;  // of the waiting call
  std::uint64_t enter_pos = 0, exit_pos = 0;
  // Of the call, where known is kAtOnce: without what nests in it. 0 of a series of polls, which is
  // as long as what it looks for takes.
  Seconds exclusive;
  // The waiting lies within these times; it is less where other regions nest in the call.
  Seconds begin, end;
  Seconds waiting;
  EndedBy ended_by;  // not known(): no single call ended it
  Operation operation;
  // How it is known what the awaited one did meanwhile.
  enum class Cause : std::uint8_t {
    kCompare,  // it is compared with the one that waits, since they stood together last
    kSeen,     // the trace shows it: it held the lock, or was outside MPI
    kNobody    // nobody was awaited: the completion of an operation, say
  } cause = Cause::kCompare;
  // When it is known how long the call waited.
  enum class Known : std::uint8_t {
    kAtOnce,
    kAtEnd,  // of the trace
    kInSum   // likewise, and its time is in a sum that was told before
  } known = Known::kAtOnce;
};

// A wait of that call, without what is known of its waiting.
inline Wait wait_of_call(MetricIndex metric, const earl::Call& at) {
  return {.metric = metric,
          .call_path = raw(at.cnode),
          .location = at.index,
          .enter = at.enter,
          .exit = at.exit,
          .enter_pos = at.enter_pos,
          .exit_pos = at.exit_pos,
          .exclusive = at.joined ? Seconds{0} : at.exclusive};
}

// The waits of a call that waited `severity` in all, for each of these parts. What is left, for
// nobody who is known, comes last, as an operation of its own with the number `rest`. Together they
// are the severity to the last tick: each part is a difference of rounded running sums.
template <class F>
void for_each_part(MetricIndex metric, const earl::Call& at, Seconds severity,
                   std::span<const WaitPart> parts, std::uint64_t rest, F&& f) {
  Wait wait = wait_of_call(metric, at);
  wait.cause = Wait::Cause::kSeen;
  const auto length = [&](const WaitPart& part) {
    return earl::overlap(at, part.when.begin, part.when.end);
  };
  constexpr Seconds kRounding{1e-12};
  Seconds all{};
  const WaitPart* last = nullptr;
  for (const WaitPart& part : parts) {
    if (!(length(part) > Seconds{0})) continue;
    all += length(part);
    last = &part;
  }
  const bool rest_waited = last == nullptr || kRounding < severity - all;
  const TimeSum whole = TimeSum::of(severity.value);
  Seconds until{};
  TimeSum told;
  for (const WaitPart& part : parts) {
    if (!(length(part) > Seconds{0})) continue;
    until += length(part);
    const bool takes_rest = &part == last && !rest_waited;
    const TimeSum now = takes_rest ? whole : std::min(TimeSum::of(until.value), whole);
    if (!(now - told)) continue;
    wait.waiting = Seconds{(now - told).seconds()};
    told = now;
    wait.begin = std::max(part.when.begin, at.enter);
    wait.end = std::min(part.when.end, at.exit);
    wait.ended_by = part.ended_by;
    wait.operation = part.operation;
    f(wait);
  }
  if (!rest_waited || !(whole - told)) return;
  wait.waiting = Seconds{(whole - told).seconds()};
  wait.begin = at.enter;
  wait.end = at.exit;
  wait.ended_by = {};
  wait.operation = {.scattered = true, .number = rest};
  f(wait);
}

}  // namespace kojak::expert
