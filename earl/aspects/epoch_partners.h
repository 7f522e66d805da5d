// Which access epoch belongs to which exposure epoch: the n-th access epoch of o that names t on a
// window belongs to the n-th exposure epoch of t that names o, whatever their times.
//
// The owner keeps the epochs, tells of each partner that one names, and is told as soon as the
// partner's epoch is known, or known to be lost: it lies in a gap of the recording, or its process
// is not in the trace. Owner has
//   link(access, index, exposure, index): the two belong together
//   lose(sided, epoch, index): this partner's epoch will never be seen
// with numbers of epochs, and places among their partners, as the owner gave them. Ordinals come
// from EPOCH_STATE after a gap; in a classic trace they begin anew with each recording segment.
// Memory: epochs whose partner's has not begun, and two counts for each pair of processes until all
// have freed the window. Source: docs/earl.md; docs/merge.md.
#pragma once

#include <map>
#include <vector>

#include "earl/detail/fifo.h"
#include "earl/detail/flat_index.h"
#include "earl/detail/recording_segments.h"
#include "epilog/format/record/types.h"
#include "epilog/model/window_standing.h"

namespace kojak::earl {

using kojak::EpochSide;

class EpochPartners {
 public:
  struct Waiting {  // an epoch whose partner's has not begun yet
    std::uint64_t ordinal = 0;
    std::uint32_t epoch = 0, index = 0;
  };
  // What is known of one side of a pair of processes on a window.
  struct Side {
    std::uint64_t next = 0;  // ordinal of its next epoch that names the other process
    detail::Fifo<Waiting> waiting;
  };
  struct Pair {
    detail::Key128 key;  // window; origin, target
    Side sides[2];
    Side& operator[](EpochSide side) { return sides[static_cast<std::size_t>(side)]; }
    const Side& operator[](EpochSide side) const { return sides[static_cast<std::size_t>(side)]; }
  };

  EpochPartners(std::uint32_t processes, bool native) : segments_(processes, native) {}

  // The pair of `process`, which is on that side, and its partner.
  Pair& pair(EpochSide side, WindowId window, ProcessId process, ProcessId partner) {
    const bool access = side == EpochSide::kAccess;
    const std::uint32_t origin = raw(access ? process : partner);
    const std::uint32_t target = raw(access ? partner : process);
    const detail::Key128 key{raw(window), std::uint64_t{origin} << 32 | target};
    std::uint32_t i = index_.find(key);
    if (i == kNone) [[unlikely]] {
      i = pairs_.take();
      pairs_[i] = Pair{};
      pairs_[i].key = key;
      index_.insert(key, i);
      by_window_[window].push_back(i);
    }
    return pairs_[i];
  }
  // The number of the process's next epoch that names the partner.
  std::uint64_t take_ordinal(Pair& pair, EpochSide side, ProcessId process) {
    std::uint64_t& next = pair[side].next;
    segments_.begin(next, process);
    return next++;
  }
  // An epoch of that side names a partner, at `index` among its partners; `recorded`: the partner
  // is in the trace.
  template <class Owner>
  void name(Owner& owner, Pair& pair, EpochSide side, const Waiting& named, bool recorded) {
    const EpochSide there = other(side);
    Side& theirs = pair[there];
    lose_before(owner, pair, there, named.ordinal);
    if (!theirs.waiting.empty() && theirs.waiting.front().ordinal == named.ordinal) {
      const Waiting w = theirs.waiting.front();
      theirs.waiting.pop();
      side == EpochSide::kAccess ? owner.link(named.epoch, named.index, w.epoch, w.index)
                                 : owner.link(w.epoch, w.index, named.epoch, named.index);
    } else if (named.ordinal < theirs.next || !recorded) {
      owner.lose(side, named.epoch, named.index);
    } else {
      pair[side].waiting.push(named);
    }
  }
  // EPOCH_STATE: so many epochs of that side there have been, the last of them still open or not.
  // False if that is not news.
  template <class Owner>
  bool resume(Owner& owner, Pair& pair, EpochSide side, std::uint64_t count, bool open) {
    if (count <= pair[side].next) return false;
    pair[side].next = count;
    lose_before(owner, pair, other(side), count - (open ? 1 : 0));
    return true;
  }
  // Recording of the process was switched off.
  void pause(ProcessId process) { segments_.pause(process); }
  std::uint32_t segment(ProcessId process) const { return segments_.number(process); }
  // All processes have freed the window.
  template <class Owner>
  void forget(Owner& owner, WindowId window) {
    const auto it = by_window_.find(window);
    if (it == by_window_.end()) return;
    for (const std::uint32_t i : it->second) {
      for (const EpochSide side : {EpochSide::kExposure, EpochSide::kAccess}) {
        lose_before(owner, pairs_[i], side, ~std::uint64_t{0});
      }
      index_.erase(pairs_[i].key);
      pairs_.give_back(i);
    }
    by_window_.erase(it);
  }

  // For saving: the pairs and the segments; load() them into an object without any.
  std::size_t size() const { return index_.size(); }
  template <class F>
  void for_each(F&& f) const {
    index_.for_each([&](const detail::Key128&, std::uint32_t i) { f(pairs_[i]); });
  }
  detail::RecordingSegments& segments() { return segments_; }
  const detail::RecordingSegments& segments() const { return segments_; }

 private:
  static constexpr EpochSide other(EpochSide side) {
    return side == EpochSide::kAccess ? EpochSide::kExposure : EpochSide::kAccess;
  }
  // Epochs of that side whose partners have lower ordinals than any that is still to come.
  template <class Owner>
  void lose_before(Owner& owner, Pair& pair, EpochSide side, std::uint64_t ordinal) {
    detail::Fifo<Waiting>& waiting = pair[side].waiting;
    while (!waiting.empty() && waiting.front().ordinal < ordinal) {
      const Waiting w = waiting.front();
      waiting.pop();
      owner.lose(side, w.epoch, w.index);
    }
  }

  Pool<Pair> pairs_;
  detail::FlatIndex<detail::Key128> index_;
  std::map<WindowId, std::vector<std::uint32_t>> by_window_;
  detail::RecordingSegments segments_;
};

}  // namespace kojak::earl
