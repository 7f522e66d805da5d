// State aspect: the region stack of each location: the open region instances, outermost first.
//
// leave() makes the Call of the instance that ends: its exclusive time, its holes if it is an MPI
// call, exclusive counter values. Frames carry what other aspects keep until the exit of their
// call. A frame's address holds until the next enter() on its location. Memory: open instances. Not
// thread-safe. Source: EARL spec, "region stack".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earl/call.h"
#include "earl/detail/pool.h"

namespace kojak::earl {

struct Frame {
  OpenCall call;
  Seconds nested;                              // total time of nested instances that have ended
  std::uint32_t holes = 0;                     // where its holes begin in the location's list
  std::uint32_t message_call = detail::kNone;  // its entry in the message queue
  std::uint32_t actions = 0;                   // what others do at its exit
  Assertion assertion{};
  std::uint8_t completed = 0;  // kCompleted... bits
  bool incomplete = false;     // the trace ends inside it
  bool keeps_holes = false;
  bool paused = false;
};

class RegionStack {
 public:
  explicit RegionStack(std::uint32_t locations, std::uint32_t metrics = 0)
      : locations_(locations), metrics_(metrics), exclusive_(metrics) {}

  std::uint32_t depth(std::uint32_t index) const { return locations_[index].depth; }
  Frame& top(std::uint32_t index) {
    Location& l = locations_[index];
    return l.frames[l.depth - 1];
  }
  // From the outermost inwards.
  std::span<Frame> frames(std::uint32_t index) {
    Location& l = locations_[index];
    return std::span(l.frames.data(), l.depth);
  }

  // Opens an instance; the caller fills frame.call. `values`: hardware counters at its ENTER.
  Frame& enter(std::uint32_t index, bool keeps_holes, const MetricValues& values) {
    Location& l = locations_[index];
    if (l.depth == l.frames.size()) [[unlikely]]
      l.frames.emplace_back();
    Frame& frame = l.frames[l.depth++];
    frame.nested = {};
    frame.holes = static_cast<std::uint32_t>(l.holes.size());
    frame.message_call = detail::kNone;
    frame.actions = 0;
    frame.assertion = {};
    frame.incomplete = false;
    frame.completed = 0;
    frame.keeps_holes = keeps_holes;
    frame.paused = false;
    if (metrics_ != 0) [[unlikely]]
      enter_metrics(l, values);
    return frame;
  }

  // Closes the innermost instance, which must exist; fills all of `call`.
  void leave(std::uint32_t index, Seconds time, std::uint64_t pos, const MetricValues& values,
             Call& call) {
    Location& l = locations_[index];
    Frame& frame = l.frames[--l.depth];
    static_cast<OpenCall&>(call) = frame.call;
    call.exit = time;
    call.exit_pos = pos;
    const Seconds duration = time - frame.call.enter;
    call.exclusive = duration - frame.nested;
    call.assertion = frame.assertion;
    call.completed = frame.completed;
    call.incomplete = frame.incomplete;
    call.paused = frame.paused;
    if (!call.holes.empty() || l.holes.size() != frame.holes) [[unlikely]]
      take_holes(l, frame, call);
    if (l.depth != 0) [[likely]] {
      Frame& parent = l.frames[l.depth - 1];
      parent.nested += duration;
      if (parent.keeps_holes) [[unlikely]]
        l.holes.push_back({frame.call.enter, time});
    }
    if (metrics_ != 0) [[unlikely]]
      leave_metrics(l, values);
  }
  // Exclusive counter values of the instance that leave() closed last.
  std::span<const std::uint64_t> exclusive_metrics() const { return exclusive_; }

 private:
  struct Location {
    std::vector<Frame> frames;
    std::uint32_t depth = 0;
    std::vector<Interval> holes;         // of the open instances that keep them, outermost first
    std::vector<std::uint64_t> metrics;  // per open instance: values at ENTER, then nested sums
  };
  void take_holes(Location& l, const Frame& frame, Call& call);
  void enter_metrics(Location& l, const MetricValues& values);
  void leave_metrics(Location& l, const MetricValues& values);

  std::vector<Location> locations_;
  std::uint32_t metrics_;
  std::vector<std::uint64_t> exclusive_;
};

}  // namespace kojak::earl
