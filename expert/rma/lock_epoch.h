// A passive target epoch as Lock Contention sees it, and the order in which two epochs held a lock.
//
// Values; pure functions; nothing fails. Source: the merge spec, "Lock grants"; the pattern spec,
// "Lock Contention".
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/detail/pool.h"
#include "expert/rma/intervals.h"

namespace kojak::expert {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// What an epoch knows of one target.
struct LockTarget {
  ProcessId target{};
  std::uint64_t puts = 0, gets = 0;  // issued and not known to be complete
  Seconds proof = kNever;            // the first proof that the lock was held here
  Seconds release = kNever;          // when it was released here; known once the epoch is closed
};

// Targets of an epoch, found quickly. clear() keeps the memory.
class LockTargets {
 public:
  LockTarget* find(ProcessId target) {
    if (last_ < items_.size() && items_[last_].target == target) [[likely]]
      return &items_[last_];
    std::uint32_t i = 0;
    if (items_.size() > kFew) {
      i = index_.find({raw(target)});
      if (i == earl::detail::kNone) return nullptr;
    } else {
      while (i < items_.size() && items_[i].target != target) ++i;
      if (i == items_.size()) return nullptr;
    }
    last_ = i;
    return &items_[i];
  }
  LockTarget& add(ProcessId target) {
    if (LockTarget* known = find(target)) return *known;
    last_ = static_cast<std::uint32_t>(items_.size());
    items_.push_back({target});
    if (items_.size() == kFew + 1) {
      for (std::uint32_t i = 0; i < items_.size(); ++i) index_.insert({raw(items_[i].target)}, i);
    } else if (items_.size() > kFew + 1) {
      index_.insert({raw(target)}, last_);
    }
    return items_[last_];
  }
  std::vector<LockTarget>& items() { return items_; }
  void clear() {
    items_.clear();
    index_.clear();
    last_ = 0;
  }

 private:
  static constexpr std::size_t kFew = 8;
  std::vector<LockTarget> items_;
  earl::detail::FlatIndex<earl::detail::Key64> index_;
  std::uint32_t last_ = 0;
};

struct LockEpoch {
  ProcessId origin{};
  WindowId window{};
  ProcessId target{};  // absent: lock_all, a shared lock on every member
  bool exclusive = false;
  bool nocheck = false;
  bool closed = false;       // its unlock has been left
  bool evaluated = false;    // its calls know for whom they waited
  std::uint32_t serial = 0;  // tells uses of one entry apart
  Seconds lock_enter, lock_exit;
  Seconds unlock_enter = kNever, unlock_exit = kNever;
  LockTargets targets;
  std::vector<std::uint32_t> calls;  // that may have waited in it

  bool all() const { return is_absent(target); }
  // Without a proof on the way, leaving unlock is one.
  Seconds proof_at(ProcessId t) {
    const LockTarget* known = targets.find(t);
    return known == nullptr ? unlock_exit : std::min(known->proof, unlock_exit);
  }
  Seconds release_at(ProcessId t) {
    const LockTarget* known = targets.find(t);
    return known == nullptr ? unlock_exit : std::min(known->release, unlock_exit);
  }
};

inline bool conflict(const LockEpoch& a, const LockEpoch& b) {
  return a.origin != b.origin && (a.exclusive || b.exclusive) && !a.nocheck && !b.nocheck;
}

// What decides the order of two conflicting epochs at one target.
struct Holding {
  Seconds proof;  // kNever: not proved yet
  Seconds lock_exit, unlock_enter, unlock_exit;
  bool known() const { return proof <= unlock_enter && proof < kNever; }
};
// Whether `a` held the lock before `b`: by the times when each certainly held it, if these do not
// overlap; else by the times between the lock and the unlock call; else by the ends of unlock.
inline bool held_before(const Holding& a, const Holding& b) {
  if (a.known() && b.known()) {
    const bool a_first = a.unlock_enter <= b.proof, b_first = b.unlock_enter <= a.proof;
    if (a_first != b_first) return a_first;
  }
  const bool a_first = a.unlock_enter <= b.lock_exit, b_first = b.unlock_enter <= a.lock_exit;
  if (a_first != b_first) return a_first;
  if (a.unlock_exit != b.unlock_exit) return a.unlock_exit < b.unlock_exit;
  return a.unlock_enter < b.unlock_enter;
}

// When a holder waits for its predecessor: from when both had asked for the lock until the
// predecessor released it, at most until there is proof that the holder held it.
inline Interval contention(Seconds lock_enter, Seconds predecessor_lock_enter,
                           Seconds predecessor_release, Seconds proof) {
  return {std::max(lock_enter, predecessor_lock_enter), std::min(predecessor_release, proof)};
}

}  // namespace kojak::expert
