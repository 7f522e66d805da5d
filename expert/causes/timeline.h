// What one location did, without a gap from the trace's begin to its last event: pieces of
// stretches, and, after carve(), which of them were waits.
//
// Fed with the location's events in their order. Memory: 16 bytes for each change of what it does.
// Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "expert/causes/stretches.h"
#include "expert/causes/ticks.h"
#include "expert/log_memory.h"

namespace kojak::expert {

using WaitId = std::uint32_t;
inline constexpr WaitId kNoWait = std::numeric_limits<WaitId>::max();

struct Piece {
  Ticks end = 0;  // it begins where the piece before it ends, the first one at 0
  StretchId stretch = 0;
  WaitId wait = kNoWait;  // the wait that it is a part of
};

// Where a wait of the location lies.
struct WaitSpan {
  Ticks begin = 0, end = 0;
  WaitId wait = kNoWait;
  StretchId call = 0;  // that waits: other regions nested in it are no part of the wait
  Ticks found = 0;     // by carve(): how much of it the location was in that call
};

class Timeline {
 public:
  enum class Kind : std::uint8_t { kComputing, kCall, kOverhead };

  explicit Timeline(LogMemory& memory) : pieces_(memory) {}

  void enter(Ticks time, CallPathIndex path, Kind kind, Stretches& stretches) {
    advance(time, stretches);
    // A function that MPI calls back belongs to the call.
    if (kind == Kind::kComputing && calls_ > 0) kind = Kind::kCall;
    if (kind == Kind::kCall && calls_++ == 0) name_computing(path, stretches);
    open_.push_back({path, kind});
  }
  void leave(Ticks time, Stretches& stretches) {
    advance(time, stretches);
    if (open_.empty()) return;  // a damaged trace
    const Open left = open_.back();
    open_.pop_back();
    if (left.kind == Kind::kCall && --calls_ == 0) {
      before_ = left.path;
      unnamed_ = pieces_.size();
    }
  }
  // After the last event.
  void finish(Stretches& stretches) { name_computing(kNoCallPath, stretches); }
  // Marks the pieces within the waits, which are in order and made disjoint here: of two that claim
  // the same time the earlier has it.
  void carve(std::span<WaitSpan> waits);

  Ticks end() const { return pieces_.empty() ? 0 : pieces_.back().end; }
  // f(piece, begin, end) for all that was done in [from, to], in order.
  template <class F>
  void each(Ticks from, Ticks to, F&& f) const {
    for (std::size_t i = at(from); i < pieces_.size(); ++i) {
      const Ticks begin = std::max(from, begin_of(i)), end = std::min(to, pieces_[i].end);
      if (begin < end) f(pieces_[i], begin, end);
      if (to <= pieces_[i].end) break;
    }
  }
  // The begin of the piece that lies `pieces` before the one at `time`.
  Ticks some_before(Ticks time, std::size_t pieces) const {
    const std::size_t i = at(time);
    return i < pieces ? 0 : begin_of(i - pieces);
  }
  // What it did just before `time`; null at its begin and after its end.
  const Piece* before(Ticks time) const {
    const auto it = std::lower_bound(pieces_.begin(), pieces_.end(), time, ends_earlier);
    return time <= 0 || it == pieces_.end() ? nullptr : &*it;
  }
  Ticks begin_of(const Piece& piece) const {
    return begin_of(static_cast<std::size_t>(&piece - pieces_.data()));
  }

 private:
  struct Open {
    CallPathIndex path;
    Kind kind;
  };
  static constexpr StretchId kUnnamed = StretchId{1} << 31;  // and the call path that computes

  static bool ends_earlier(const Piece& piece, Ticks time) { return piece.end < time; }
  // The piece in which `time` lies, or that begins there.
  std::size_t at(Ticks time) const {
    return static_cast<std::size_t>(
        std::upper_bound(pieces_.begin(), pieces_.end(), time,
                         [](Ticks t, const Piece& piece) { return t < piece.end; }) -
        pieces_.begin());
  }
  Ticks begin_of(std::size_t i) const { return i == 0 ? 0 : pieces_[i - 1].end; }
  void advance(Ticks time, Stretches& stretches);
  void name_computing(CallPathIndex after, Stretches& stretches);

  LogVector<Piece> pieces_;
  std::vector<Open> open_;
  std::size_t calls_ = 0;    // open ones, one in the other
  std::size_t unnamed_ = 0;  // the first piece after the last call
  CallPathIndex before_ = kNoCallPath;
  bool begun_ = false;
};

}  // namespace kojak::expert
