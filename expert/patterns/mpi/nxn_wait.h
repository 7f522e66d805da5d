// Wait at N x N. Source: EXPERT patterns 2006, collective communication.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct NxnWait {
  static constexpr Metric kMetric{
      .name = "mpi_wait_nxn",
      .title = "Wait at N x N",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in an all-to-all operation before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "Allgather, allreduce, alltoall and reduce_scatter need data from everyone, so nobody"
          " can finish before the last process has come. Processes that come early wait.",
      .advice =
          "Find out which process enters last and why. Balance the work before the call, or use"
          " the non-blocking form and compute meanwhile.",
      .timeline =
          "rank 0: MPI_Allreduce 1-7 ~1-5; rank 1: MPI_Allreduce 5-7; rank 2: "
          "MPI_Allreduce 2-7 ~2-5",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kAllToAll) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      out.add(NxnWait{}, m.call, severity(m.call, late->call.enter), enter_of(late->call));
    }
  }
};

}  // namespace kojak::expert
