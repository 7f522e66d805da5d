// Under which metric a wait of one-sided communication is counted.
#pragma once

#include "expert/patterns/catalogue.h"
#include "expert/patterns/rma/passive/waiting_call.h"

namespace kojak::expert {

// Waiting for a lock that another holds.
inline MetricIndex contention_metric(LockSide side) {
  switch (side) {
    case LockSide::kSync:
      return metric_index<SyncLockContention>();
    case LockSide::kShmem:
      return metric_index<ShmemLockContention>();
    case LockSide::kTransfer:
      break;
  }
  return metric_index<RmaLockContention>();
}

// Waiting for a target that does not call MPI.
inline MetricIndex progress_metric(ProgressKind kind) {
  switch (kind) {
    case ProgressKind::kComplete:
      return metric_index<GatWaitForProgress>();
    case ProgressKind::kFlush:
    case ProgressKind::kUnlock:
    case ProgressKind::kIdleFlush:
    case ProgressKind::kIdleUnlock:
    case ProgressKind::kLock:
    case ProgressKind::kFlushLocal:
      return metric_index<SyncWaitForProgress>();
    case ProgressKind::kShmemGet:
    case ProgressKind::kShmemFetch:
    case ProgressKind::kShmemAtomic:
      return metric_index<ShmemRmaWaitForProgress>();
    case ProgressKind::kShmemQuiet:
      return metric_index<ShmemQuietWaitForProgress>();
    case ProgressKind::kShmemLock:
      return metric_index<ShmemLockWaitForProgress>();
    default:
      return metric_index<RmaWaitForProgress>();
  }
}

}  // namespace kojak::expert
