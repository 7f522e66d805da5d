// The transfers that a page draws: each from its start to its end, and the synchronisation that
// completed it at either side, all found while they come.
//
// If there are too many, those of a share of all numbers are kept: whether one is, its origin and
// number say, so that what comes later of the others costs nothing, it does not matter in which
// part of a run they come, and a pattern that repeats (each eighth a get, each fourth to one
// neighbour) stays in the sample as it is. Memory follows the limit. Not thread-safe; nothing
// fails.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "earl/aspects/transfers.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

class TransferArrows {
 public:
  // The call that synchronised a transfer.
  struct Sync {
    Nanoseconds exit = 0, length = 0;
  };
  // An epoch of a process on a window.
  struct Epoch {
    std::uint32_t process = 0, window = 0;
    earl::EpochKind kind = earl::EpochKind::kNone;
    auto operator<=>(const Epoch&) const = default;
  };

  explicit TransferArrows(std::size_t limit) : limit_(limit < 1 ? 1 : limit) {}

  // Counts one that starts; whether it is to be added.
  bool begin(ProcessId origin, RmaId rmaid) {
    ++seen_;
    return is_kept(origin, rmaid);
  }
  // `epoch`: which one completes it, where an epoch does.
  void add(ProcessId origin, RmaId rmaid, const TransferArrow& arrow, const Epoch* epoch);
  void end(ProcessId origin, RmaId rmaid, Nanoseconds time) {
    if (is_kept(origin, rmaid)) end_kept(origin, rmaid, time);
  }

  // The process has left the fence that ended its epoch; all have left that fence, whose rows and
  // exits these are.
  void fence(const Epoch& epoch, std::uint64_t ordinal, Sync sync);
  void fence_complete(const FenceInstance& fence, std::uint64_t ordinal);
  bool waits_for_fence(std::uint32_t window, std::uint64_t ordinal) const {
    return by_fence_.contains({window, ordinal});
  }
  // The same of Win_complete, which `id` names, and of the exposure at each target:
  // `exit_of(row)` is when the target left its Win_wait, or 0.
  void access(const Epoch& epoch, std::uint64_t id, Sync sync);
  template <class ExitOf>
  void access_complete(std::uint64_t id, ExitOf&& exit_of) {
    const auto arrows = by_access_.extract(id);
    if (arrows.empty()) return;
    for (const std::uint32_t i : arrows.mapped()) {
      if (const Nanoseconds exit = exit_of(kept_[i].target); exit != 0) kept_[i].target_sync = exit;
    }
  }
  // The epoch of a lock has ended: that of one target, or of all.
  void passive(const Epoch& epoch, bool all, std::uint32_t target, Sync sync);

  // The part of the run behind this one. Nothing may be open here but epochs of locks of all.
  void add(TransferArrows& behind);
  template <class Archive>
  void visit(Archive& archive) {
    archive(seen_, level_, kept_, keys_, waiting_, first_unlocks_);
  }
  std::uint64_t seen() const { return seen_; }
  // Those that are kept, in order of their requests.
  std::vector<TransferArrow> finish();

 private:
  using Numbers = std::vector<std::uint32_t>;  // in kept_
  struct Key {
    std::uint32_t origin = 0, rmaid = 0;
    std::uint64_t word() const { return std::uint64_t{origin} << 32 | rmaid; }
    auto operator<=>(const Key&) const = default;
  };

  // Multiples of an irrational number are spread evenly, whatever the period of the numbers.
  bool is_kept(ProcessId origin, RmaId rmaid) const {
    const std::uint32_t hash = (raw(rmaid) + raw(origin) * 0x85EBCA6BU) * 0x9E3779B1U;
    return (std::uint64_t{hash} << level_) >> 32 == 0;
  }
  void end_kept(ProcessId origin, RmaId rmaid, Nanoseconds time);
  void keep(std::uint32_t level);
  void at_origin(std::uint32_t arrow, Sync sync);
  Numbers take(const Epoch& epoch);

  std::size_t limit_;
  std::uint64_t seen_ = 0;
  std::uint32_t level_ = 0;  // one of 2^level is kept
  std::vector<TransferArrow> kept_;
  std::vector<Key> keys_;  // of each
  std::unordered_map<std::uint64_t, std::uint32_t> open_;
  std::map<Epoch, Numbers> waiting_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Numbers> by_fence_;
  std::map<std::uint64_t, Numbers> by_access_;
  std::map<Epoch, Sync> first_unlocks_;  // of locks of all: what ends one that was held before
};

}  // namespace kojak::html
