// State aspect: the region stack of each location: the open region instances, outermost first.
//
// An open instance is a Frame, which already is the Call that it becomes: leave() completes it
// (exclusive time, holes of MPI calls) and hands it out without a copy; it is valid until the next
// enter() on its location. Frames carry what other aspects keep until the exit of their call.
// Memory: open instances. Not thread-safe. Source: docs/earl.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/call.h"
#include "earl/pool.h"

namespace kojak::earl {

struct alignas(64) Frame : Call {
  std::uint32_t first_hole = 0;    // where its holes begin in the location's list
  std::uint32_t message_call = 0;  // its entry in the message queue
  std::uint32_t begun_wait = 0;    // its entry among the waits for begun collectives
  std::uint32_t actions = 0;       // what others do at its exit
  bool keeps_holes = false;
  bool post = false;      // a Win_post call
  bool awaits = false;    // may wait for a variable of SHMEM
  TransferSlot transfer;  // the first one that it issued
};

// How the values of a hardware counter add up: METRIC says it.
struct CounterKind {
  bool real = false;  // the u8 holds the bits of a double
  // What a value counts: since the start of the run, since the location's last value, or up to its
  // next.
  enum class Interval : std::uint8_t { kStart, kLast, kNext } interval = Interval::kStart;
};

class RegionStack {
 public:
  explicit RegionStack(std::uint32_t locations, std::vector<CounterKind> counters = {});

  std::uint32_t depth(std::uint32_t index) const {
    const Location& l = locations_[index];
    return static_cast<std::uint32_t>(l.top - l.frames.get());
  }
  KOJAK_INLINED bool empty(std::uint32_t index) const {
    const Location& l = locations_[index];
    return l.top == l.frames.get();
  }
  // The innermost open instance; without one a frame that stands for "none", with an absent cnode.
  Frame& top(std::uint32_t index) { return *locations_[index].top; }
  const Frame& top(std::uint32_t index) const { return *locations_[index].top; }
  // From the outermost inwards.
  std::span<Frame> frames(std::uint32_t index) {
    Location& l = locations_[index];
    return {l.frames.get() + 1, depth(index)};
  }

  // What every event of a location touches: kept beside its stack.
  struct Head {
    LocationId id{};
    ProcessId process{};
    Seconds last;  // time of its latest event
  };
  Head& head(std::uint32_t index) { return locations_[index].head; }
  const Head& head(std::uint32_t index) const { return locations_[index].head; }

  // Fetches what head() and top() need; then the innermost instance, or the place of the next one.
  KOJAK_INLINED void fetch(std::uint32_t index) const { __builtin_prefetch(&locations_[index]); }
  KOJAK_INLINED void fetch_top(std::uint32_t index, bool enter) const {
    const Location& l = locations_[index];
    const Frame* const top = l.top;
    if (top == nullptr) return;
    __builtin_prefetch(top);
    if (enter && top + 1 == l.limit) return;
    const auto* const frame = reinterpret_cast<const std::byte*>(enter ? top + 1 : top);
    for (std::size_t at = 0; at < sizeof(Frame); at += 64) __builtin_prefetch(frame + at, 1);
    if (!enter && top != l.frames.get()) __builtin_prefetch(&top[-1].nested, 1);
  }

  // Opens an instance; the caller fills what an OpenCall has. `values`: counters at its ENTER.
  KOJAK_INLINED Frame& enter(std::uint32_t index, bool keeps_holes, const MetricValues& values) {
    Location& l = locations_[index];
    if (l.top + 1 == l.limit) [[unlikely]]
      grow(l);
    Frame& frame = *++l.top;
    frame.nested = 0;
    frame.first_hole = l.holes;
    frame.message_call = 0;
    frame.begun_wait = 0;
    frame.actions = 0;
    frame.rmaid = absent<RmaId>();
    frame.assertion = 0;
    frame.completed = 0;
    frame.incomplete = frame.nests = frame.paused = frame.joined = frame.polled = false;
    frame.keeps_holes = keeps_holes;
    frame.transfer.kind = EpochKind::kNone;
    if (metrics_ != 0) [[unlikely]]
      enter_metrics(index, values);
    return frame;
  }

  // Closes the innermost instance, which must exist.
  KOJAK_INLINED Frame& leave(std::uint32_t index, Seconds time, std::uint64_t pos,
                             const MetricValues& values) {
    Location& l = locations_[index];
    Frame& frame = *l.top--;
    frame.exit = time;
    frame.exit_pos = pos;
    frame.exclusive = frame.nests ? Seconds{in_seconds(frame.own())} : Seconds{time - frame.enter};
    l.top->nested = sum_of(l.top->nested, ticks_between(frame.enter.value, time.value));
    l.top->nests = true;
    if (l.holes != frame.first_hole || !frame.holes.empty() || l.top->keeps_holes) [[unlikely]]
      handle_holes(index, frame);
    if (metrics_ != 0) [[unlikely]]
      leave_metrics(index, values);
    return frame;
  }
  // Exclusive counter values of the instance that leave() closed last; of a real counter the bits
  // of a double.
  std::span<const std::uint64_t> exclusive_metrics() const { return exclusive_; }
  bool counts() const { return metrics_ != 0; }
  // What the location of the latest enter() or leave() counted since the one before.
  std::span<const std::uint64_t> counted() const { return counted_; }

 private:
  struct alignas(64) Location {
    Frame* top = nullptr;
    Frame* limit = nullptr;
    std::unique_ptr<Frame[]> frames;  // the first stands for "none"
    Head head;
    std::uint32_t holes = 0;  // in Rare::holes
  };
  struct Rare {                          // by location
    std::vector<Interval> holes;         // of the open instances that keep them, outermost first
    std::vector<std::uint64_t> metrics;  // per open instance: values at ENTER, then nested sums
    std::vector<std::uint64_t> totals;   // of counters that tell of intervals
    std::vector<std::uint64_t> last;     // what was counted up to the latest event with values
  };
  static void grow(Location& l);
  void handle_holes(std::uint32_t index, Frame& frame);
  void enter_metrics(std::uint32_t index, const MetricValues& values);
  void leave_metrics(std::uint32_t index, const MetricValues& values);
  std::uint64_t total(Rare& rare, std::uint32_t metric, std::uint64_t value) const;
  std::uint64_t sum(std::uint32_t metric, std::uint64_t a, std::uint64_t b) const;
  std::uint64_t difference(std::uint32_t metric, std::uint64_t a, std::uint64_t b) const;
  std::uint64_t count(Rare& rare, std::uint32_t metric, std::uint64_t value);

  std::vector<Location> locations_;
  std::vector<Rare> rare_;
  std::vector<CounterKind> counters_;
  std::uint32_t metrics_;  // how many
  std::vector<std::uint64_t> exclusive_, counted_;
};

}  // namespace kojak::earl
