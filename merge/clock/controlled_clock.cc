#include "merge/clock/controlled_clock.h"

namespace kojak::merge {

ClockShape ControlledTimeline::amortise() {
  ClockShape shape;
  bool first = true;
  ClockItem next;
  items_.update_backwards([&](ClockItem& item) {
    double last = item.forward;
    if (!first) {
      const double drawn = next.last - (1 + kFaster) * (next.time - item.time);
      last = std::max(last, std::min(drawn, item.last));
      const double step = drawn - last;
      // Less than the rounding of the times themselves is no step.
      if (step > kLeastDelay) {
        ++shape.stretched;
        shape.largest_step = std::max(shape.largest_step, step);
      }
    }
    item.last = last;
    shape.largest_shift = std::max(shape.largest_shift, last - item.time);
    next = item;
    first = false;
  });
  items_.close();
  return shape;
}

void ControlledCursor::find(std::uint64_t position, double time) {
  std::uint64_t from = 0, to = size_;
  while (from < to) {  // items are in the order of time, and within a thread of position
    const std::uint64_t middle = from + (to - from) / 2;
    if (reached(items_[middle], position, time)) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  next_ = from;
  if (next_ > 0) before_ = items_[next_ - 1];
  if (next_ < size_) behind_ = items_[next_];
  placed_ = true;
}

double ControlledCursor::at(std::uint64_t position, double time) {
  if (!placed_) find(position, time);
  while (next_ < size_ && reached(behind_, position, time)) {
    before_ = behind_;
    if (++next_ < size_) behind_ = items_[next_];
  }
  double final_time = time;
  if (next_ > 0) {
    if (before_.thread == thread_ && before_.position == position && before_.time == time) {
      return before_.last;
    }
    final_time = std::max(time, before_.forward + (1 - kSlower) * (time - before_.time));
  }
  if (next_ < size_) {
    final_time = std::max(final_time, behind_.last - (1 + kFaster) * (behind_.time - time));
    final_time = std::min(final_time, behind_.last);
  }
  return final_time;
}

}  // namespace kojak::merge
