// SHMEM: Wait for Progress, in gets and atomic operations, in quiet, and in locks. The rule is that
// of MPI's passive target. Source: passive-target paper 2012, section 4.
#pragma once

#include "expert/analysis/rma/intervals.h"
#include "expert/metric.h"

namespace kojak::expert {

namespace detail {
constexpr Metric shmem_progress_metric(std::string_view name, std::string_view parent,
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
          "Let the target call the library now and then (a test, a fence), use an implementation "
          "or "
          "transport with asynchronous progress, or ask for the data before they are needed "
          "(non-blocking, completed by a later quiet).",
      .timeline = timeline,
      .needs = Needs::kShmem,
      .sureness = Metric::Sureness::kProgress};
}
}  // namespace detail

struct ShmemRmaWaitForProgress {
  static constexpr Metric kMetric = detail::shmem_progress_metric(
      "shmem_rma_wait_for_progress", "shmem_rma_communication",
      "Time in a get or an atomic operation while the target was outside the library.",
      "origin: shmem_get 1-7 ~1-6; target: shmem_fence 6-7");

  // Sets of times: the target(s) outside up to the last enter, and what others claimed.
  static Seconds severity(const Call& c, const Intervals& outside, const Intervals& taken) {
    return length_within(c, without(outside, taken));
  }
};

struct ShmemQuietWaitForProgress {
  static constexpr Metric kMetric = detail::shmem_progress_metric(
      "shmem_quiet_wait_for_progress", "shmem_point2point_synchronization",
      "Time in quiet while a target of what was issued was outside the library.",
      "origin: shmem_get_nbi 0-1, shmem_quiet 2-7 ~2-6; target: shmem_fence 6-7");
};

struct ShmemLockWaitForProgress {
  static constexpr Metric kMetric = detail::shmem_progress_metric(
      "shmem_lock_wait_for_progress", "shmem_lock_completion",
      "Time in setting a lock while the process that grants it was outside the library.",
      "pe 1: shmem_set_lock 1-7 ~1-6; pe 0, where the lock stands: shmem_fence 6-7");
};

}  // namespace kojak::expert
