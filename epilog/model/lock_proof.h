// What proves that a passive target epoch holds its lock at a target: one rule for merge, EARL and
// EXPERT.
//
// Win_lock may return before the lock is held. An epoch certainly holds it at the target when data
// have come back from there, or have certainly arrived there: at the exit of a flush of the target
// (or of all) with an operation to it outstanding, of a local flush with a get outstanding, or of
// the call that completes the request of a get. That the buffer of a put may be used again says
// nothing of the target, and an operation to another target says nothing of this one, also under
// lock_all, which asks each target for its lock. Else the exit of the unlock is the proof.
// A value for each target of an epoch. Source: MPI 4.1, 12.5.3 and 12.5.4; docs/patterns.
#pragma once

#include <cstdint>

namespace kojak::model {

// Operations to the target that were issued and are not known to be complete. Those that return
// whether the call proves the lock also take away what it completes.
struct LockOperations {
  std::uint64_t puts = 0, gets = 0;

  bool any() const { return puts + gets != 0; }
  void issue(bool get) { ++(get ? gets : puts); }
  bool flush(bool local) {
    const bool proves = gets != 0 || (!local && puts != 0);
    gets = 0;
    if (!local) puts = 0;
    return proves;
  }
  // The request of a get is complete. A flush may have completed the get before: no new proof.
  bool complete_get() {
    if (gets == 0) return false;
    --gets;
    return true;
  }
};

}  // namespace kojak::model
