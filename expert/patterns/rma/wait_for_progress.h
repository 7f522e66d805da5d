// Wait for Progress, in transfers, in general active target and in passive target synchronisation.
// Source: passive-target paper 2012, section 4.
#pragma once

#include "expert/analysis/rma/intervals.h"
#include "expert/metric.h"

namespace kojak::expert {

namespace detail {
constexpr Metric wait_for_progress_metric(std::string_view name, std::string_view parent,
                                          std::string_view summary, std::string_view timeline) {
  return {
      .name = name,
      .title = "Wait for Progress",
      .parent = parent,
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = summary,
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
          "the metric says how sure that is. If ELG_MPI left out functions that can make progress, "
          "the trace does not show when a target was outside MPI, so the report does not have the "
          "metric.",
      .advice =
          "Let the target call MPI now and then (MPI_Test, MPI_Win_test, MPI_Iprobe), use an "
          "implementation or setting with asynchronous progress (a progress thread, RDMA), or "
          "flush later, when the target is likely to be in MPI.",
      .timeline = timeline,
      .needs = Needs::kAllProgress,
      .sureness = Metric::Sureness::kProgress};
}
}  // namespace detail

struct RmaWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      "mpi_rma_comm_wait_for_progress", "mpi_rma_communication",
      "Time in a transfer, or in the wait for a get, while the target was outside MPI.",
      "origin: lock 0-1, large MPI_Put 1-7 ~1-6; target: MPI_Iprobe 6-7");

  // Sets of times: the target(s) outside up to the last enter, and what others claimed.
  static Seconds severity(const Call& c, const Intervals& outside, const Intervals& taken) {
    return length_within(c, without(outside, taken));
  }
};

struct GatWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      "mpi_rma_gat_wait_for_progress", "mpi_rma_gat_synchronization",
      "Time in MPI_Win_complete while a target was outside MPI.",
      "origin: start 0-1, Put 1-2, MPI_Win_complete 2-7 ~2-6; target: post 0-1, "
      "MPI_Win_wait 6-8");
};

struct SyncWaitForProgress {
  static constexpr Metric kMetric = detail::wait_for_progress_metric(
      "mpi_rma_sync_wait_for_progress", "mpi_rma_lock_synchronization",
      "Time in a lock, flush or unlock call while a target was outside MPI.",
      "origin: lock 0-1, Put 1-2, MPI_Win_flush 2-7 ~2-6; target: MPI_Iprobe 6-7");
};

}  // namespace kojak::expert
