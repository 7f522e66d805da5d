#include "expert/causes/timeline.h"

namespace kojak::expert {

void Timeline::advance(Ticks time, Stretches& stretches) {
  if (time <= end()) {
    begun_ = true;
    return;
  }
  StretchId stretch = Stretches::kBeforeRecording;
  if (begun_) {
    const Open now = open_.empty() ? Open{kUnnamed - 1, Kind::kComputing} : open_.back();
    stretch = now.kind == Kind::kComputing  ? (kUnnamed | now.path)
              : now.kind == Kind::kOverhead ? stretches.overhead(now.path)
                                            : stretches.call(now.path);
  }
  begun_ = true;
  if (pieces_.size() > unnamed_ && pieces_.back().stretch == stretch) {
    pieces_.back().end = time;
  } else {
    pieces_.push_back({time, stretch, kNoWait});
  }
}

void Timeline::name_computing(CallPathIndex after, Stretches& stretches) {
  for (std::size_t i = unnamed_; i < pieces_.size(); ++i) {
    StretchId& stretch = pieces_[i].stretch;
    if ((stretch & kUnnamed) == 0) continue;
    const CallPathIndex path = stretch & ~kUnnamed;
    stretch = stretches.computing(path == kUnnamed - 1 ? kNoCallPath : path, before_, after);
  }
  unnamed_ = pieces_.size();
}

void Timeline::carve(std::span<WaitSpan> waits) {
  if (waits.empty()) return;
  LogVector<Piece> carved(pieces_.get_allocator());
  carved.reserve(pieces_.size() + 2 * waits.size());
  std::size_t next = 0;
  Ticks begin = 0;
  const auto add = [&](Ticks end, StretchId stretch, WaitId wait) {
    if (begin < end) carved.push_back({end, stretch, wait});
    begin = std::max(begin, end);
  };
  for (const Piece& piece : pieces_) {
    while (begin < piece.end) {
      while (next < waits.size() && waits[next].end <= begin) ++next;
      if (next == waits.size() || piece.end <= waits[next].begin) {
        add(piece.end, piece.stretch, kNoWait);
        break;
      }
      WaitSpan& wait = waits[next];
      const bool waits_here = piece.stretch == wait.call;
      add(waits_here ? std::min(piece.end, wait.begin) : std::min(piece.end, wait.end),
          piece.stretch, kNoWait);
      if (!waits_here) continue;
      const Ticks from = begin;
      add(std::min(piece.end, wait.end), piece.stretch, wait.wait);
      wait.found += begin - from;
    }
  }
  pieces_ = std::move(carved);
}

}  // namespace kojak::expert
