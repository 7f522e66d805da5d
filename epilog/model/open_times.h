// The earliest beginning among things that are open, where they begin in order of time but end in
// any order.
//
// Memory: from the earliest open one to the latest.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

#include "epilog/format/record/types.h"

namespace kojak::model {

class OpenTimes {
 public:
  using Ticket = std::uint64_t;
  static constexpr Seconds kNone{std::numeric_limits<double>::infinity()};

  Ticket begin(Seconds time) {
    times_.push_back({time, true});
    return first_ + times_.size() - 1;
  }
  void end(Ticket ticket) {
    times_[ticket - first_].open = false;
    while (!times_.empty() && !times_.front().open) {
      times_.pop_front();
      ++first_;
    }
  }
  bool empty() const { return times_.empty(); }
  Seconds earliest() const { return times_.empty() ? kNone : times_.front().time; }

 private:
  struct Entry {
    Seconds time;
    bool open;
  };
  std::deque<Entry> times_;
  Ticket first_ = 0;
};

}  // namespace kojak::model
