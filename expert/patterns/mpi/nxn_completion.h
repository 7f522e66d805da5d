// N x N Completion. Source: EXPERT patterns 2006, collective communication.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct NxnCompletion {
  static constexpr Metric kMetric{
      .name = "mpi_nxn_completion",
      .title = "N x N Completion",
      .parent = "mpi_collective",
      .summary = "Time in an all-to-all operation after the first process had left it.",
      .formula = "overlap(c, [max(first exit, L), c.exit]), L = latest enter of the instance",
      .meaning =
          "The time from the first process's exit to each one's own: what distributing the "
          "result takes, or a process that is slow to receive it.",
      .advice = "Usually small. Large values point to an overloaded node or link.",
      .timeline =
          "rank 0: MPI_Allreduce 1-5; rank 1: MPI_Allreduce 4-7 ~5-7; rank 2: "
          "MPI_Allreduce 2-6 ~5-6",
      .nobody_awaited = true};

  static Seconds severity(const Call& c, Seconds latest_enter, Seconds first_exit) {
    return completion(c, latest_enter, first_exit);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kAllToAll) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      const Seconds all_in = late->call.enter, first_out = view.first_exit_beside(m);
      out.add(NxnCompletion{}, m.call, severity(m.call, all_in, first_out), EndedBy{},
              std::max(first_out, all_in));
    }
  }
};

}  // namespace kojak::expert
