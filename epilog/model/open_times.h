// The earliest beginning among things that are open, where they begin in order of time but end in
// any order.
//
// Memory: from the earliest open one to the latest.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "epilog/format/record/types.h"

namespace kojak::model {

class OpenTimes {
 public:
  using Ticket = std::uint64_t;
  static constexpr Seconds kNone{std::numeric_limits<double>::infinity()};

  Ticket begin(Seconds time) {
    if (next_ - first_ == times_.size()) [[unlikely]]
      grow();
    at(next_) = {time, true};
    return next_++;
  }
  void end(Ticket ticket) {
    at(ticket).open = false;
    while (first_ != next_ && !at(first_).open) ++first_;
  }
  bool empty() const { return first_ == next_; }
  Seconds earliest() const { return empty() ? kNone : times_[first_ & (times_.size() - 1)].time; }

 private:
  struct Entry {
    Seconds time;
    bool open = false;
  };
  Entry& at(Ticket ticket) { return times_[ticket & (times_.size() - 1)]; }
  [[gnu::noinline]] void grow() {
    std::vector<Entry> more(times_.empty() ? 16 : 2 * times_.size());
    for (Ticket t = first_; t != next_; ++t) more[t & (more.size() - 1)] = at(t);
    times_ = std::move(more);
  }

  std::vector<Entry> times_;  // a ring; a power of two
  Ticket first_ = 0, next_ = 0;
};

}  // namespace kojak::model
