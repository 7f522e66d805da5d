// What one location did, without a gap from the trace's begin to its last event: pieces of
// stretches, and which of them were waits.
//
// Fed with the location's events in their order, and with its waits. Most of these are told soon
// after they were over, one after the other, and have their places at once; else all of them are
// placed anew in the end (carve). Memory: 16 bytes for each change of what it does.
// Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/causes/stretches.h"
#include "expert/metrics/amount.h"
#include "expert/metrics/time_class.h"

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
  Ticks found = 0;     // by place() and carve(): how much of it the location was in that call
};

// When a location's team was made, and when it entered the team's parallel region.
struct Start {
  Ticks made = 0, entered = 0;
  StretchId stretch = 0;     // of the time in between
  std::uint32_t master = 0;  // the location that made the team
};

class Timeline {
 public:
  enum class Kind : std::uint8_t { kComputing, kCall, kOverhead };

  explicit Timeline(LogMemory& memory) : pieces_(memory, true) {}

  void enter(Ticks time, CallPathIndex path, Kind kind, Stretches& stretches) {
    advance(time);
    open_.push_back(now_);
    // A function that MPI calls back belongs to the call.
    if (kind == Kind::kComputing && calls_ == 0) {
      bounds_.computes();
      now_ = {kUnnamed | path, path, kind};
    } else if (kind == Kind::kOverhead) {
      now_ = {stretches.overhead(path), path, kind};
    } else {
      if (calls_++ == 0) {
        bounds_.enter(path, stretches.library());
        name_computing(stretches);
      }
      now_ = {stretches.call(path), path, Kind::kCall};
    }
  }
  void leave(Ticks time) {
    advance(time);
    if (open_.empty()) return;  // a damaged trace
    if (now_.kind == Kind::kCall && --calls_ == 0) {
      bounds_.leave();
      unnamed_ = pieces_.size();
    }
    if (now_.kind == Kind::kComputing && calls_ == 0) bounds_.computes();
    now_ = open_.back();
    open_.pop_back();
  }
  // Of one that serves, which is told nothing else: it does that from then on.
  void go_over(Ticks time, StretchId to) {
    advance(time);
    now_.stretch = to;
  }
  StretchId doing() const { return now_.stretch; }
  bool begun() const { return begun_; }
  // After the last event.
  void finish(Stretches& stretches) {
    bounds_.finish();
    name_computing(stretches);
  }
  // After that, names the time of these, which are in order. No wait has its place then.
  void name_starts(std::span<const Start> starts);
  // Marks the pieces within a wait that is over, unless an earlier one is told later, or much has
  // happened since: then carve() is needed, see all_placed().
  void place(WaitSpan& wait);
  bool all_placed() const { return all_placed_; }
  // Marks the pieces within all waits, which are in order and made disjoint here: of two of a call
  // that claim the same time the earlier has it. A wait of a call may lie within that of another.
  void carve(std::span<WaitSpan> waits);

  Ticks end() const { return end_; }
  std::size_t size() const { return pieces_.size(); }
  // What was done behind that time belongs to another part of the run.
  void end_at(Ticks time) {
    std::size_t count = pieces_.size();
    while (count != 0 && begin_of(count - 1) >= time) --count;
    pieces_.resize(count);
    if (count != 0) pieces_.back().end = std::min(pieces_.back().end, time);
    end_ = std::min(end_, time);
    unnamed_ = std::min(unnamed_, count);
  }
  // f(piece, begin, end) for all that was done in [from, to], in order; 0 <= from.
  template <class F>
  void each(Ticks from, Ticks to, F&& f) const {
    Ticks begin = from;
    std::size_t i = at(from, from_);
    for (const std::size_t n = pieces_.size(); i < n; ++i) {
      const Piece& piece = pieces_[i];
      const Ticks end = std::min(to, piece.end);
      if (begin < end) f(piece, begin, end);
      if (to <= piece.end) break;
      begin = end;
    }
    to_ = i;
  }
  // f(piece, length) for all pieces, in order.
  template <class F>
  void each(F&& f) const {
    Ticks begin = 0;
    for (const Piece& piece : pieces_) {
      f(piece, piece.end - begin);
      begin = piece.end;
    }
  }
  // `since`, or the begin of the piece that lies `most` before the one at `to` if that is later.
  Ticks bounded(Ticks since, Ticks to, std::size_t most) const {
    if (pieces_.size() <= most) return since;
    const std::size_t i = at(to, to_);
    return i <= most ? since : std::max(since, begin_of(i - most));
  }
  // What it did just before `time`; null at its begin and after its end.
  const Piece* before(Ticks time) const {
    if (time <= 0 || time > end_) return nullptr;
    return &pieces_[at(time - 1, to_)];
  }
  Ticks begin_of(const Piece& piece) const {
    return begin_of(static_cast<std::size_t>(&piece - pieces_.data()));
  }

 private:
  struct Open {
    StretchId stretch;
    CallPathIndex path;
    Kind kind;
  };
  static constexpr StretchId kUnnamed = StretchId{1} << 31;  // and the call path that computes
  static constexpr CallPathIndex kNoFunction = kUnnamed - 1;

  // The piece in which `time` lies, or that begins there. Looks near where it looked last.
  std::size_t at(Ticks time, std::size_t& near) const {
    constexpr std::size_t kSteps = 8;
    const Piece* const p = pieces_.data();
    const std::size_t n = pieces_.size();
    std::size_t i = std::min(near, n);
    std::size_t steps = kSteps;
    if (i < n && p[i].end <= time) {
      while (i < n && p[i].end <= time && steps != 0) ++i, --steps;
    } else {
      while (i != 0 && p[i - 1].end > time && steps != 0) --i, --steps;
    }
    return near = steps != 0 ? i : far(time, i);
  }
  std::size_t far(Ticks time, std::size_t i) const;
  Ticks begin_of(std::size_t i) const { return i == 0 ? 0 : pieces_[i - 1].end; }
  void advance(Ticks time) {
    if (time > end_) {
      if (pieces_.size() > unnamed_ && pieces_.back().stretch == now_.stretch &&
          pieces_.back().wait == kNoWait) {
        pieces_.back().end = time;
      } else {
        pieces_.push_back({time, now_.stretch, kNoWait});
      }
      end_ = time;
    }
    if (!begun_) [[unlikely]] {
      begun_ = true;
      now_ = {kUnnamed | kNoFunction, kNoFunction, Kind::kComputing};
    }
  }
  void name_computing(Stretches& stretches);
  void insert(std::size_t before, const Piece& piece);

  LogVector<Piece> pieces_;
  Ticks end_ = 0;
  Open now_{Stretches::kBeforeRecording, 0, Kind::kComputing};
  std::vector<Open> open_;   // around `now_`
  std::size_t calls_ = 0;    // open ones, one in the other
  std::size_t unnamed_ = 0;  // the first piece after the last call
  CallBounds bounds_;
  Ticks placed_until_ = 0;  // the end of the last wait that has its place
  bool all_placed_ = true;
  bool begun_ = false;
  mutable std::size_t from_ = 0, to_ = 0;  // where it looked last
};

inline Timeline::Kind kind_of(RegionId region, const RegionClasses& classes) {
  switch (classes[region]) {
    case TimeClass::kUser:
      return Timeline::Kind::kComputing;
    case TimeClass::kOverhead:
      return Timeline::Kind::kOverhead;
    default:
      return Timeline::Kind::kCall;
  }
}

inline Timeline::Kind kind_of(const earl::OpenCall& call, const RegionClasses& classes) {
  return call.function != nullptr ? Timeline::Kind::kCall : kind_of(call.region, classes);
}

// enter(path, kind) of the regions in which a call is made, from the outermost inwards.
template <class F>
void enter_around(const earl::OpenCall& call, const earl::CallTree& tree,
                  const RegionClasses& classes, F&& enter) {
  std::vector<CallPathId> around;
  for (CallPathId path = call.cnode; !is_absent(path); path = tree[path].parent) {
    around.push_back(path);
    tree.for_each_entered_with(path, [&](CallPathId caller) { path = caller; });
  }
  for (std::size_t i = around.size(); i-- > 1;) {
    enter(raw(around[i]), kind_of(tree[around[i]].region, classes));
  }
}

}  // namespace kojak::expert
