// Lock Contention, in transfers and in passive target synchronisation. Source: passive-target paper
// 2006, inefficiency patterns; that a target outside MPI grants nothing is kojak's own.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/intervals.h"

namespace kojak::expert {

namespace detail {
constexpr Metric lock_contention_metric(std::string_view name, std::string_view parent,
                                        std::string_view summary, std::string_view timeline) {
  return {
      .name = name,
      .title = "Lock Contention",
      .parent = parent,
      .summary = summary,
      .formula =
          "c within the union over its epochs E and their predecessors H of [S, min(release of H, "
          "first proof that E holds the lock)]; S = latest of lock.enter of E, of H, and the "
          "releases of those before H; without the times when H cannot have been granted its lock "
          "because the target was outside MPI",
      .meaning =
          "A lock that conflicts with this one was held by another process. Where the waiting "
          "shows depends on the implementation: in MPI_Win_lock, or, where that returns at once, "
          "in a large transfer, a flush, or MPI_Win_unlock. The order of the holders follows from "
          "what proves that a lock was held: a flush, a completed get, or the unlock. If that does "
          "not decide the order, because unlock calls overlap, the time that the calls took "
          "decides, then who asked first. While a target that must grant the lock computes outside "
          "MPI, nobody holds the lock: that time is Wait for Progress of all who asked. A lock may "
          "also "
          "be a value in a window that processes swap (MPI_Compare_and_swap, MPI_Fetch_and_op with "
          "MPI_REPLACE): who changes it in turn holds it from the enter of the swap that took it "
          "to the "
          "enter of the operation that gives it back, if all who took it found the same value.",
      .advice =
          "Hold locks for a shorter time and unlock at once after the last transfer. Use shared "
          "locks where accesses do not overlap, or accumulate operations, which are atomic "
          "under a shared lock. Spread what is locked over several targets or windows.",
      .timeline = timeline,
      .sureness = Metric::Sureness::kLockOrder};
}
}  // namespace detail

struct RmaLockContention {
  static constexpr Metric kMetric = detail::lock_contention_metric(
      "mpi_rma_comm_lock_contention", "mpi_rma_communication",
      "Time in a transfer, or in the wait for one, while another process held the lock.",
      "origin: lock 1-2, large MPI_Put 2-7 ~2-6; holder: lock 0-1, unlock 5-6");

  // `waits` is a set: the union of what contention() gives for each predecessor.
  static Seconds severity(const Call& c, const Intervals& waits) { return length_within(c, waits); }
};

struct SyncLockContention {
  static constexpr Metric kMetric = detail::lock_contention_metric(
      "mpi_rma_sync_lock_contention", "mpi_rma_lock_synchronization",
      "Time in a lock, flush or unlock call while another process held the lock.",
      "origin: MPI_Win_lock 2-7 ~2-6, Put 7-8; holder: lock 0-1, Put 2-3, unlock 5-6");

  static Seconds severity(const Call& c, const Intervals& waits) { return length_within(c, waits); }
};

}  // namespace kojak::expert
