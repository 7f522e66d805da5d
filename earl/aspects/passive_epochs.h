// State aspect: passive target epochs: lock to unlock, lock_all to unlock_all.
//
// Memory: open epochs x targets used in them.
// Source: docs/merge.md; docs/patterns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "earl/aspects/fence_epochs.h"
#include "earl/call.h"

namespace kojak::earl {

// At the exit of a call that opens, closes or advances passive target epochs: one for each record
// in it, in their order, before on_passive_epoch.
struct PassiveStep {
  enum class Kind : std::uint8_t {
    kLock,
    kUnlock,
    kLockAll,
    kUnlockAll,
    kFlush,
    kRequestComplete,  // a Wait*/Test* found the request of operation `rmaid` complete
  };
  Kind kind{};
  bool exclusive = false;  // kLock
  bool local = false;      // kFlush
  bool standing = false;   // kLockAll: held where the trace begins (Standing)
  const Call* call = nullptr;
  WindowId window{};
  ProcessId target{};  // kLock, kUnlock; kFlush: absent means all
  RmaId rmaid{};       // kRequestComplete
};

// An epoch of a process on one target, or by lock_all on every member; delivered when closed.
struct PassiveEpoch {
  ProcessId origin{};
  WindowId window{};
  ProcessId target{};  // of Win_lock
  bool all = false;    // lock_all: `target` says nothing
  bool exclusive = false;
  bool nocheck = false;
  bool has_lock = false;  // false: recording was off when it began
  bool has_unlock = false;
  bool paused = false;
  Call lock, unlock;
  // The exit of the call that first proved that the lock was held (model/lock_proof.h), of lock_all
  // at any target; else of the unlock.
  Seconds proof;
  std::vector<FenceTarget> targets;  // transfers, by target
};

}  // namespace kojak::earl
