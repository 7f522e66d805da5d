// A call: one instance of a region on one location, from its ENTER to its exit record.
//
// Calls are values. Region instances nested in an MPI call (TRACING, PAUSING, user functions that
// MPI calls back) are its holes: all waiting times are taken within the call's exclusive time.
// Holes are kept for regions of the MPI function table only (and SHMEM and OpenMP regions), never
// for user functions; without holes a call owns no memory and copying allocates nothing. Any
// thread. Source: docs/patterns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "earl/ticks.h"
#include "epilog/format/definitions.h"

namespace kojak::earl {

struct Interval {
  Seconds begin, end;
  constexpr Seconds length() const { return end > begin ? end - begin : Seconds{}; }
};

// The nested region instances of a call, in order of time and disjoint. Deep copies; empty is free.
class Holes {
 public:
  Holes() = default;
  explicit Holes(std::span<const Interval> intervals) {
    if (!intervals.empty()) assign(intervals);
  }
  Holes(const Holes& other) {
    if (other.data_ != nullptr) [[unlikely]]
      assign(other.span());
  }
  Holes(Holes&& other) noexcept = default;
  Holes& operator=(const Holes& other) {
    if (this != &other && (data_ != nullptr || other.data_ != nullptr)) [[unlikely]] {
      data_.reset();
      if (other.data_ != nullptr) assign(other.span());
    }
    return *this;
  }
  Holes& operator=(Holes&& other) noexcept = default;
  bool empty() const { return data_ == nullptr; }
  std::span<const Interval> span() const {
    return data_ == nullptr ? std::span<const Interval>() : std::span(data_->data(), data_->size());
  }

 private:
  void assign(std::span<const Interval> intervals);
  std::unique_ptr<std::vector<Interval>> data_;
};

// What the requests were that a Wait*/Test* call completed (bits of Call::completed).
inline constexpr std::uint8_t kCompletedMessage = 1, kCompletedRma = 2, kCompletedCollective = 4,
                              kCompletedIo = 8, kCompletedGeneralized = 16,
                              kCompletedBarrier = 32;  // a non-blocking or persistent barrier

// What every region instance has from its ENTER on.
struct OpenCall {
  LocationId loc{};
  std::uint32_t index = 0;  // dense number of the location: 0 .. Trace::location_count()-1
  ProcessId process{};      // world rank; locations of one process share it
  CallPathId cnode{};
  RegionId region{};
  CallSiteId csite = absent<CallSiteId>();
  const MpiFunction* function = nullptr;  // null: no MPI function
  Seconds enter;
  std::uint64_t enter_pos = 0;

  MpiRole role() const { return function == nullptr ? MpiRole::kOther : function->role; }
};

struct Call : OpenCall {
  Seconds exit;
  std::uint64_t exit_pos = 0;
  Seconds exclusive;              // duration without all nested region instances
  Ticks nested = 0;               // of those that have ended in it
  RmaId rmaid = absent<RmaId>();  // of the first transfer that it issued
  std::uint8_t assertion = 0;  // of fence, post, start, lock, lock_all; 0 if none or not recorded
  std::uint8_t completed = 0;  // kCompleted... bits: what a Wait*/Test* call completed
  bool incomplete = false;     // the trace ends inside it: exit is the location's last time
  bool nests = false;          // some region instance has ended in it
  bool paused = false;         // recording was switched off inside it
  bool joined = false;         // a series of polls is part of it
  bool polled = false;         // and that series waits
  Seconds polled_from;         // of such a one: when it first asked for what it found
  Holes holes;                 // see above

  // From when on it can have waited for what it found.
  Seconds waits_from() const { return polled ? std::max(enter, polled_from) : enter; }
  // `exclusive`, exactly, where it nests; the limit where the whole is beyond it.
  Ticks own() const {
    const Ticks whole = ticks_between(enter.value, exit.value);
    return whole == kMostWhole ? whole : sum_of(whole, -nested);
  }
  bool nocheck() const { return (assertion & kAssertNoCheck) != 0; }
  bool noprecede() const { return (assertion & kAssertNoPrecede) != 0; }
};

// Length of [call.enter, call.exit] intersected with [a, b], holes left out; never negative.
inline Seconds overlap(const Call& call, Seconds a, Seconds b) {
  const Seconds begin = std::max(a, call.enter), end = std::min(b, call.exit);
  if (!(begin < end)) return {};
  Seconds length = end - begin;
  for (const Interval& hole : call.holes.span()) {
    length -= Interval{std::max(begin, hole.begin), std::min(end, hole.end)}.length();
  }
  return std::max(length, Seconds{});
}

}  // namespace kojak::earl
