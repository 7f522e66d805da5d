#include "expert/causes/timeline.h"

namespace kojak::expert {

void Timeline::name_computing(CallPathIndex after, Stretches& stretches) {
  for (std::size_t i = unnamed_; i < pieces_.size(); ++i) {
    StretchId& stretch = pieces_[i].stretch;
    if ((stretch & kUnnamed) == 0) continue;
    const CallPathIndex path = stretch & ~kUnnamed;
    stretch = stretches.computing(path == kNoFunction ? kNoCallPath : path, before_, after);
  }
  unnamed_ = pieces_.size();
}

void Timeline::name_starts(std::span<const Start> starts) {
  if (starts.empty()) return;
  LogVector<Piece> named(pieces_.memory());
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
  near_ = 0;
}

void Timeline::carve(std::span<WaitSpan> waits) {
  if (waits.empty()) return;
  constexpr std::size_t kAtOnce = 1 << 20;  // pieces, between two times when logs rest
  LogVector<Piece> carved(pieces_.memory());
  std::size_t rested = 0;
  carved.reserve(pieces_.size() + 2 * waits.size());
  const Piece* piece = pieces_.data();
  const Piece* const last = piece + pieces_.size();
  Ticks begin = 0;
  const auto add = [&](Ticks end, StretchId stretch, WaitId wait) {
    if (begin < end) carved.push_back({end, stretch, wait});
    begin = std::max(begin, end);
  };
  for (WaitSpan& wait : waits) {
    if (wait.end <= begin) continue;
    const Piece* const untouched = piece;
    while (piece < last && piece->end <= wait.begin) ++piece;
    if (untouched < piece) {
      carved.append(untouched, piece);
      begin = piece[-1].end;
      if (carved.size() > rested + kAtOnce) {
        pieces_.memory().rest();
        rested = carved.size();
      }
    }
    while (piece < last && begin < wait.end) {
      const bool waits_here = piece->stretch == wait.call;
      add(waits_here ? std::min(piece->end, wait.begin) : std::min(piece->end, wait.end),
          piece->stretch, kNoWait);
      if (waits_here) {
        const Ticks from = begin;
        add(std::min(piece->end, wait.end), piece->stretch, wait.wait);
        wait.found += begin - from;
      }
      if (piece->end <= begin) ++piece;
    }
  }
  carved.append(piece, last);
  pieces_ = std::move(carved);
  near_ = 0;
}

}  // namespace kojak::expert
