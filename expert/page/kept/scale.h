// How finely a page draws a table: in cells of 2^level ns on a grid from the run's first event.
//
// What is drawn follows from the trace and the level, and what is drawn at a level from what is
// drawn at any below it: so it does not matter when there was too much, nor who read which part of
// the run. Each table has a level of its own, the least at which it fits its limit. Plain values.
#pragma once

#include <bit>
#include <cstdint>

#include "expert/page/trace_content.h"

namespace kojak::html {

class Scale {
 public:
  static constexpr unsigned kMost = 62;  // no run is longer

  explicit Scale(unsigned level = 0) : level_(level) {}
  // The one whose cells are that long.
  static Scale of(Nanoseconds cell) {
    return Scale(cell == 0 ? 0 : static_cast<unsigned>(std::countr_zero(cell)));
  }
  unsigned level() const { return level_; }
  // How long a cell is; 0: nothing is left out.
  Nanoseconds cell() const { return level_ == 0 ? 0 : Nanoseconds{1} << level_; }
  bool is_short(Nanoseconds length) const { return length < cell(); }
  bool in_one_cell(Nanoseconds a, Nanoseconds b) const { return a >> level_ == b >> level_; }
  // From which level on a time of that length is short.
  static unsigned short_from(Nanoseconds length) {
    return length < 2 ? 1 : static_cast<unsigned>(std::bit_width(length));
  }

 private:
  unsigned level_;
};

}  // namespace kojak::html
