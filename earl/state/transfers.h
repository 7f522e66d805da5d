// Transfers (put, get) as they are issued, and what an epoch remembers of them per target.
//
// A transfer belongs to the epoch that its origin had open towards that target when it was issued:
// a lock of that target or of all; else a started access epoch that names it; else the fence epoch.
// An epoch keeps one TargetTransfers for each target, however many transfers there are.
// Source: merge spec, "The extended model"; EARL spec, "Epochs".
#pragma once

#include <cstdint>
#include <limits>

#include "earl/call.h"

namespace kojak::earl {

enum class EpochKind : std::uint8_t { kNone, kFence, kAccess, kLock, kLockAll };

// At its start record at the origin (PUT_1TS; GET_1TS, which follows GET_1TO).
struct Transfer {
  const OpenCall* call;  // the region instance of the origin that issued it
  std::uint64_t pos;
  Seconds time;
  ProcessId origin;
  ProcessId target;
  WindowId window;  // absent: SHMEM
  RmaId rmaid;
  Bytes64 bytes;
  bool get;
  EpochKind epoch;  // kNone: no epoch is known that it could belong to
};

// Where the aspect of its epoch keeps a transfer, until the exit of the call that issued it.
struct TransferSlot {
  std::uint32_t epoch = kAbsent;  // absent: no such epoch is open
  std::uint32_t index = 0;        // of the target in it
  std::uint32_t serial = 0;       // fences: which epoch of the window
  EpochKind kind = EpochKind::kNone;
};

// What an epoch of an origin knows of its transfers to one target.
struct TargetTransfers {
  static constexpr Seconds kNever{-std::numeric_limits<double>::infinity()};
  std::uint64_t ops = 0;     // issued in the epoch; an atomic operation with a result counts two
  std::uint64_t marked = 0;  // of these, how many the merge could not place (RMA_MARK):
                             // they take part in no pattern
  std::uint64_t unrecorded = 0;  // of these, issued while recording was off (EPOCH_STATE)
  Seconds last_exit = kNever;    // latest exit of a transfer call to the target
  Seconds last_enter = kNever;   // latest enter of one; of access epochs only
};

}  // namespace kojak::earl
