// The boxes of calls, as they come: of each location a tree, in which short calls become one box.
//
// A call shorter than a cell (scale.h) is short, and nothing is drawn within it; short calls that
// follow one another under the same parent and begin in one cell are one box, with their number
// and the call path of the longest, of several the first. Calls that are not short stay as they
// are. A short call that waited for an eighth of a cell is drawn within its box, once more: so
// there is most detail where the waits are. (Whether it waited may be known long after it has
// ended, so its box does not depend on it.)
//
// A part of a run begins with the calls that are open there, which go on where the part before
// ended (add). Memory: about twice the limit. Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expert/page/kept/scale.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

class BoxRows {
 public:
  BoxRows(std::size_t rows, std::size_t limit);

  void enter(std::size_t row, Nanoseconds begin, std::uint32_t path);
  void exit(std::size_t row, Nanoseconds end);  // the innermost open one
  Box* innermost(std::size_t row);              // null: none is open
  // A call waited, maybe for several: for so long in one go.
  void waited(std::size_t row, const WaitedCall& call);

  // Of a part of a run. So many calls were open where it begins, and were entered; what follows is
  // another part's, until opened().
  void begin_shut(std::size_t row, std::uint32_t standing);
  void opened(std::size_t row) { rows_[row].shut = false; }
  void forget(std::size_t row);  // the innermost open one
  // The part behind this one; its call path p is paths[p] here.
  void add(BoxRows& behind, std::span<const std::uint32_t> paths);
  template <class Archive>
  void visit(Archive& archive) {
    std::uint32_t level = scale_.level();
    archive(level, rows_, count_);
    scale_ = Scale(level);
  }

  // What is still open ends then.
  void finish(Nanoseconds end, TraceContent& content);

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  static constexpr Nanoseconds kOpen = static_cast<Nanoseconds>(-1);  // the end of such a call
  struct Frame {
    std::uint32_t box = kNone;         // an open one, or the row
    std::uint32_t last_child = kNone;  // the last one in it that has ended
  };
  struct Row {
    std::vector<Box> boxes;                 // parents before children
    std::vector<Frame> frames = {Frame{}};  // the row, and what is open in it
    std::vector<WaitedCall> waited;
    std::uint32_t standing = 0, first_ones = 0;  // open where it begins; boxes that are these
    bool shut = false;
    Nanoseconds latest = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive(boxes, frames, waited, standing, first_ones, shut, latest);
    }
  };

  void close_innermost(Row& row);
  void settle(Row& row, std::uint32_t at);
  void cut_off(Row& row, std::uint32_t from);
  void raise_to(Scale scale);
  void condense(Row& row);
  struct Certain {
    std::size_t boxes = 0, all = 0;  // all: with calls that waited
  };
  Certain certain() const;
  void fit();

  std::size_t limit_, look_at_;  // when so many are held, whether they are too many
  std::size_t count_ = 0;        // boxes and calls that waited
  Scale scale_;
  std::vector<Row> rows_;
};

// Of a finished row, at a coarser scale.
void condense(std::vector<Box>& boxes, Scale scale);
// Of all rows, until at most `limit` boxes are drawn.
void condense_to(TraceContent& content, std::size_t limit);
// How many boxes are drawn, with calls that waited; these.
std::size_t drawn(const TraceContent& content);
std::vector<std::vector<Box>> drawn_boxes(const TraceContent& content);

}  // namespace kojak::html
