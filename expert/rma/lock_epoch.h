// A passive target epoch as Lock Contention sees it, and the order in which two epochs held a lock.
//
// Values; pure functions; nothing fails. Source: the merge spec, "Lock grants"; the pattern spec,
// "Lock Contention".
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "earl/detail/pool.h"
#include "earl/detail/target_table.h"
#include "expert/rma/intervals.h"

namespace kojak::expert {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// What an epoch knows of one target.
struct LockTarget {
  ProcessId target{};
  std::uint64_t puts = 0, gets = 0;  // issued and not known to be complete
  Seconds proof = kNever;            // the first proof that the lock was held here
  Seconds release = kNever;          // when it was released here; known once the epoch is closed
  Seconds issued;                    // enter of the last call that issued an operation
  std::uint32_t flushes = 0;         // so far; each completed the gets before it
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
  earl::detail::TargetTable<LockTarget> targets;
  std::vector<std::uint32_t> calls;  // that may have waited in it

  bool all() const { return is_absent(target); }
  // Without a proof on the way, leaving unlock is one.
  Seconds proof_at(ProcessId t) const { return sooner(t, &LockTarget::proof); }
  Seconds release_at(ProcessId t) const { return sooner(t, &LockTarget::release); }

 private:
  Seconds sooner(ProcessId t, Seconds LockTarget::*time) const {
    const std::uint32_t known = targets.find(t);
    return known == earl::detail::kNone ? unlock_exit : std::min(targets[known].*time, unlock_exit);
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
