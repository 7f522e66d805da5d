// Wait for Progress: of MPI in transfers, in general active target and in passive target
// synchronisation; of SHMEM, by the same rule, in gets and atomic operations, in quiet, and in
// locks. Source: passive-target paper 2012, section 4.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/intervals.h"

namespace kojak::expert {

namespace detail {
// What is said of all calls of a library.
struct ProgressTexts {
  std::string_view formula, meaning, advice;
  Needs needs;
};

inline constexpr ProgressTexts kMpiProgress{
    .formula =
        "c within the union over its targets t of (t outside MPI) in [c.enter, M], M = last "
        "enter of t into MPI before c ended, without what the patterns listed before claim; "
        "0 where a call of that kind once ended although its target had been outside ever since "
        "one of its operations was issued",
    .meaning =
        "Some implementations move data only while the target is inside an MPI call that can "
        "make progress. The origin waits until the target, which computes, calls MPI again. That "
        "holds for locks, too, and for local flushes of large puts. If the trace shows that the "
        "implementation needs no such call for that window, no waiting is counted; the remark at "
        "the metric says how sure that is. What transfers show holds for locks, too, unless lock "
        "calls ended only after their absent target had come back, and none before: data may move "
        "by themselves where the target must still grant locks. A flush or unlock asks a target "
        "with "
        "nothing outstanding in some implementations, too: such calls are a kind of their own, and "
        "only "
        "their own ends tell of them. If ELG_MPI left out functions that can make progress, "
        "the trace does not show when a target was outside MPI, so the report does not have the "
        "metric.",
    .advice =
        "Let the target call MPI now and then (MPI_Test, MPI_Win_test, MPI_Iprobe), use an "
        "implementation or setting with asynchronous progress (a progress thread, RDMA), or "
        "flush later, when the target is likely to be in MPI. A flush with nothing to complete can "
        "be "
        "left out.",
    .needs = Needs::kAllProgress};

inline constexpr ProgressTexts kShmemProgress{
    .formula =
        "c within the union over its targets t of (t outside the library) in [c.enter, M], M = "
        "last enter of t into the library before c ended, without what Lock Contention claims; 0 "
        "where a call of that kind once ended although its target had been outside ever since "
        "its operation was issued",
    .meaning =
        "Some implementations move data, or answer an atomic operation, only while the target is "
        "inside a call of SHMEM (or MPI). The caller waits until the target, which computes, "
        "comes back. If the trace shows that this library needs no such call for that kind of "
        "operation, no waiting is counted; the remark at the metric says how sure that is.",
    .advice =
        "Let the target call the library now and then (a test, a fence), use an implementation or "
        "transport with asynchronous progress, or ask for the data before they are needed "
        "(non-blocking, completed by a later quiet).",
    .needs = Needs::kShmem};

constexpr Metric wait_for_progress_metric(const ProgressTexts& library, std::string_view name,
                                          std::string_view parent, std::string_view summary,
                                          std::string_view timeline) {
  return {.name = name,
          .title = "Wait for Progress",
          .parent = parent,
          .summary = summary,
          .formula = library.formula,
          .meaning = library.meaning,
          .advice = library.advice,
          .timeline = timeline,
          .needs = library.needs,
          .sureness = Metric::Sureness::kProgress};
}
}  // namespace detail

// Of each of these: sets of times, the target(s) outside up to the last enter, and what others
// claimed.
inline Seconds wait_for_progress(const Call& c, const Intervals& outside, const Intervals& taken) {
  return length_within(c, without(outside, taken));
}

struct RmaWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kMpiProgress, "mpi_rma_comm_wait_for_progress", "mpi_rma_communication",
      "Time in a transfer, or in the wait for a get, while the target was outside MPI.",
      "origin: lock 0-1, large MPI_Put 1-7 ~1-6; target: MPI_Iprobe 6-7");
};

struct GatWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kMpiProgress, "mpi_rma_gat_wait_for_progress", "mpi_rma_gat_synchronization",
      "Time in MPI_Win_complete while a target was outside MPI.",
      "origin: start 0-1, Put 1-2, MPI_Win_complete 2-7 ~2-6; target: post 0-1, "
      "MPI_Win_wait 6-8");
};

struct SyncWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kMpiProgress, "mpi_rma_sync_wait_for_progress", "mpi_rma_lock_synchronization",
      "Time in a lock, flush or unlock call while a target was outside MPI.",
      "origin: lock 0-1, Put 1-2, MPI_Win_flush 2-7 ~2-6; target: MPI_Iprobe 6-7");
};

struct ShmemRmaWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kShmemProgress, "shmem_rma_wait_for_progress", "shmem_rma_communication",
      "Time in a get or an atomic operation while the target was outside the library.",
      "origin: shmem_get 1-7 ~1-6; target: shmem_fence 6-7");
};

struct ShmemQuietWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kShmemProgress, "shmem_quiet_wait_for_progress", "shmem_point2point_synchronization",
      "Time in quiet while a target of what was issued was outside the library.",
      "origin: shmem_get_nbi 0-1, shmem_quiet 2-7 ~2-6; target: shmem_fence 6-7");
};

struct ShmemLockWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      detail::kShmemProgress, "shmem_lock_wait_for_progress", "shmem_lock_completion",
      "Time in setting a lock while the process that grants it was outside the library.",
      "pe 1: shmem_set_lock 1-7 ~1-6; pe 0, where the lock stands: shmem_fence 6-7");
};

}  // namespace kojak::expert
