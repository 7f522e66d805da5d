#include "expert/causes/timeline.h"

namespace kojak::expert {

void Timeline::name_computing(Stretches& stretches) {
  for (std::size_t i = unnamed_; i < pieces_.size(); ++i) {
    StretchId& stretch = pieces_[i].stretch;
    if ((stretch & kUnnamed) == 0) continue;
    const CallPathIndex path = stretch & ~kUnnamed;
    stretch = bounds_.inside() != kNoCallPath
                  ? stretches.call(bounds_.inside())
                  : stretches.computing(path == kNoFunction ? kNoCallPath : path, bounds_.before(),
                                        bounds_.after());
  }
  unnamed_ = pieces_.size();
}

void Timeline::name_starts(std::span<const Start> starts) {
  if (starts.empty()) return;
  LogVector<Piece> named(pieces_.memory(), true);
  named.reserve(pieces_.size() + starts.size());
  auto start = starts.begin();
  Ticks begin = 0;
  const auto add = [&](Ticks end, StretchId stretch) {
    if (begin < end) named.push_back({end, stretch, kNoWait});
    begin = std::max(begin, end);
  };
  for (const Piece& piece : pieces_) {
    for (; start != starts.end() && start->made < piece.end; ++start) {
      add(std::min(piece.end, start->made), piece.stretch);
      add(std::min(piece.end, start->entered), start->stretch);
      if (piece.end < start->entered) break;  // it goes on in the next piece
    }
    add(piece.end, piece.stretch);
  }
  pieces_ = std::move(named);
  from_ = to_ = 0;
  all_placed_ = false;
}

void Timeline::place(WaitSpan& wait) {
  constexpr std::size_t kNear = 64;  // pieces
  all_placed_ = all_placed_ && placed_until_ <= wait.begin && wait.end <= end_;
  if (!all_placed_) return;
  const std::size_t first = pieces_.size() - std::min(pieces_.size(), kNear);
  std::size_t i = pieces_.size();
  while (i != first && pieces_[i - 1].end > wait.begin) --i;
  all_placed_ = begin_of(i) <= wait.begin;
  if (!all_placed_) return;
  placed_until_ = std::max(placed_until_, wait.end);
  for (Ticks begin = begin_of(i); i < pieces_.size() && begin < wait.end; ++i) {
    const Piece piece = pieces_[i];
    const Ticks from = std::max(begin, wait.begin), to = std::min(piece.end, wait.end);
    begin = piece.end;
    if (piece.stretch != wait.call || from >= to) continue;
    wait.found += to - from;
    if (from > begin_of(i)) insert(i++, {from, piece.stretch, kNoWait});
    if (to < piece.end) {
      insert(i++, {to, piece.stretch, wait.wait});
    } else {
      pieces_[i].wait = wait.wait;
    }
  }
}

void Timeline::insert(std::size_t before, const Piece& piece) {
  pieces_.push_back(piece);
  std::rotate(pieces_.begin() + before, pieces_.end() - 1, pieces_.end());
  if (before < unnamed_) ++unnamed_;
}

std::size_t Timeline::far(Ticks time, std::size_t i) const {
  const Piece* const p = pieces_.data();
  const std::size_t n = pieces_.size();
  std::size_t step = 1, first = 0;
  if (i < n && p[i].end <= time) {
    for (; step < n - i && p[i + step].end <= time; step *= 2) i += step;
    first = i + 1;
    i = std::min(i + step, n);
  } else {
    for (; step <= i && p[i - step].end > time; step *= 2) i -= step;
    if (step <= i) first = i - step + 1;
  }
  const Piece* const found = std::upper_bound(
      p + first, p + i, time, [](Ticks t, const Piece& piece) { return t < piece.end; });
  return static_cast<std::size_t>(found - p);
}

void Timeline::carve(std::span<WaitSpan> waits) {
  if (waits.empty()) return;
  constexpr std::size_t kAtOnce = 1 << 16;  // pieces, between two times when logs rest
  LogVector<Piece> carved(pieces_.memory(), true);
  std::size_t rested = 0;
  carved.reserve(pieces_.size() + waits.size());
  // Those that have begun and are not over: of a call, and of calls within it.
  std::vector<WaitSpan*> open;
  auto next = waits.begin();
  Ticks begin = 0;
  const auto add = [&](Ticks end, StretchId stretch, WaitId wait) {
    if (begin >= end) return;
    begin = end;
    // (It may have been placed before, cut by one that had this time then.)
    const bool goes_on = wait != kNoWait && !carved.empty() && carved.back().wait == wait &&
                         carved.back().stretch == stretch;
    if (goes_on) {
      carved.back().end = end;
    } else {
      carved.push_back({end, stretch, wait});
    }
  };
  for (const Piece& piece : pieces_) {
    for (; next != waits.end() && next->begin < piece.end; ++next) open.push_back(&*next);
    std::erase_if(open, [begin](const WaitSpan* wait) { return wait->end <= begin; });
    for (WaitSpan* const wait : open) {
      if (wait->call != piece.stretch) continue;
      add(std::min(piece.end, wait->begin), piece.stretch, kNoWait);
      const Ticks from = begin;
      add(std::min(piece.end, wait->end), piece.stretch, wait->wait);
      wait->found += begin - from;
    }
    add(piece.end, piece.stretch, kNoWait);
    if (carved.size() > rested + kAtOnce) {
      pieces_.memory().rest();
      rested = carved.size();
    }
  }
  pieces_ = std::move(carved);
  from_ = to_ = 0;
}

}  // namespace kojak::expert
