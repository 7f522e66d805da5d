// The controlled logical clock of one process: times that respect causes, as close to its own
// intervals as they allow.
//
// Forward: an event keeps its (linearly corrected) time t unless a cause is later; then it moves
// behind the cause, and the events after it follow with it, but their intervals are kSlower shorter
// until the clock is itself again: t'(e) = max(t(e), t'(a) + (1 - kSlower) (t(e) - t(a))), a the
// event that moved. Backward: the events before such a step move towards it, with intervals that
// are at most kFaster longer: t''(e) = max(t'(e), t''(b) - (1 + kFaster) (t(b) - t(e))), b the next
// item, but an event that is a cause never moves behind its effects. Both are straight lines
// between few items: events that moved, and events that are causes. A ControlledTimeline holds
// these items in the spill file (about 40 bytes for each); all other times are computed from the
// items around them. Monotone; threads of a process share its timeline, because they share its
// clock. Cursors are independent of each other; neither is thread-safe. Errors: those of the spill
// file. Source: Rabenseifner, The controlled logical clock, 1997; Becker, Rabenseifner, Wolf,
// Linford, Scalable timestamp synchronization for event traces, 2009 (backward amortisation).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "merge/input/spill_array.h"

namespace kojak::merge {

// How much shorter or longer intervals may become where nothing forces them.
inline constexpr double kSlower = 0.01, kFaster = 0.01;
// An effect comes at least this much after its cause, so that their order in the file is certain.
inline constexpr double kLeastDelay = 1e-9;

inline double after(double cause) {
  return std::max(cause + kLeastDelay,
                  std::nextafter(cause, std::numeric_limits<double>::infinity()));
}
inline double ahead_of(double effect) {
  return std::min(effect - kLeastDelay,
                  std::nextafter(effect, -std::numeric_limits<double>::infinity()));
}

struct ClockItem {
  double time = 0;     // as the linear correction has it
  double forward = 0;  // after the forward pass
  double last = 0;     // the latest it may be; after the backward pass, its final time
  std::uint64_t position = 0;
  std::uint32_t thread = 0;  // index of the trace among those of its process
};

// What the correction did to intervals.
struct ClockShape {
  std::uint64_t stretched = 0;  // intervals that grew by more than kFaster
  double largest_step = 0;      // by how much at most, in seconds
  double largest_shift = 0;     // of any event
  void add(const ClockShape& other) {
    stretched += other.stretched;
    largest_step = std::max(largest_step, other.largest_step);
    largest_shift = std::max(largest_shift, other.largest_shift);
  }
};

class ControlledTimeline {
 public:
  explicit ControlledTimeline(FileCache& files) : items_(files) {}

  // Forward, in the order of time. When no cause is later:
  double follow(double time) const {
    return items_.size() == 0 ? time
                              : std::max(time, last_.forward + (1 - kSlower) * (time - last_.time));
  }
  // Adds an item; returns its number.
  std::uint64_t add(double time, double forward, std::uint64_t position, std::uint32_t thread) {
    last_ = {time, forward, std::numeric_limits<double>::infinity(), position, thread};
    items_.append(last_);
    moved_ = moved_ || forward > time;
    return items_.size() - 1;
  }
  // The item is a cause of something at that (forward) time.
  void limit(std::uint64_t item, double effect) {
    const double latest = ahead_of(effect);
    items_.update(item, [&](ClockItem& i) { i.last = std::min(i.last, latest); });
  }
  // The backward pass.
  ClockShape amortise();

  bool moved() const { return moved_; }  // some event moved
  const SpillArray<ClockItem>& items() const { return items_; }

 private:
  SpillArray<ClockItem> items_;
  ClockItem last_;
  bool moved_ = false;
};

// Final times of one thread's events. Made for reading on; may begin anywhere.
class ControlledCursor {
 public:
  ControlledCursor(const ControlledTimeline& timeline, std::uint32_t thread)
      : items_(timeline.items()), size_(timeline.items().size()), thread_(thread) {}

  // The final time of the event in the record at this position, at this linear time. Positions
  // ascend from call to call.
  double at(std::uint64_t position, double time);

 private:
  bool reached(const ClockItem& item, std::uint64_t position, double time) const {
    if (item.thread == thread_) return item.position <= position;
    return item.time < time || (item.time == time && item.thread < thread_);
  }
  void find(std::uint64_t position, double time);

  SpillReader<ClockItem> items_;
  std::uint64_t size_;
  std::uint32_t thread_;
  std::uint64_t next_ = 0;
  bool placed_ = false;
  ClockItem before_, behind_;  // around the event, if next_ > 0 and next_ < size_
};

}  // namespace kojak::merge
