// Under which metric a wait of one-sided communication is counted.
#pragma once

#include "expert/patterns/catalogue.h"
#include "expert/patterns/rma/passive/waiting_call.h"

namespace kojak::expert {

inline MetricIndex of_memory(MetricIndex of_shmem, WindowId window) {
  return is_symmetric(window) ? in_model(of_shmem, model_of_memory(window)) : of_shmem;
}

// Waiting for a lock that another holds, of this window or symmetric memory.
inline MetricIndex contention_metric(LockSide side, WindowId window) {
  switch (side) {
    case LockSide::kSync:
      return metric_index<SyncLockContention>();
    case LockSide::kShmem:
      return of_memory(metric_index<ShmemLockContention>(), window);
    case LockSide::kTransfer:
      break;
  }
  return metric_index<RmaLockContention>();
}

// Waiting for a target that does not call MPI.
inline MetricIndex progress_metric(ProgressKind kind, WindowId window) {
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
    case ProgressKind::kShmemPut:
      return of_memory(metric_index<ShmemRmaWaitForProgress>(), window);
    case ProgressKind::kShmemQuiet:
      return of_memory(metric_index<ShmemQuietWaitForProgress>(), window);
    case ProgressKind::kShmemLock:
      return of_memory(metric_index<ShmemLockWaitForProgress>(), window);
    default:
      return metric_index<RmaWaitForProgress>();
  }
}

}  // namespace kojak::expert
