// Barrier Completion. Source: EXPERT patterns 2006, collective synchronisation.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct BarrierCompletion {
  static constexpr Metric kMetric{
      .name = "mpi_barrier_completion",
      .title = "Barrier Completion",
      .parent = "mpi_sync_collective",
      .summary = "Time in a barrier after the first process had left it.",
      .formula = "overlap(c, [max(first exit, L), c.exit]), L = latest enter of the instance",
      .meaning =
          "A barrier does not let all processes go at the same moment. This is the time from "
          "the first one's exit to each one's own.",
      .advice =
          "Large values come from a busy machine or network, or from many processes. Fewer "
          "barriers help.",
      .timeline =
          "rank 0: MPI_Barrier 1-5; rank 1: MPI_Barrier 4-7 ~5-7; rank 2: MPI_Barrier 2-6 "
          "~5-6",
      .nobody_awaited = true};

  static Seconds severity(const Call& c, Seconds latest_enter, Seconds first_exit) {
    return completion(c, latest_enter, first_exit);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kBarrier) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      const Seconds all_in = late->call.enter, first_out = view.first_exit_beside(m);
      out.add(BarrierCompletion{}, m.call, severity(m.call, all_in, first_out), EndedBy{},
              std::max(first_out, all_in));
    }
  }
};

}  // namespace kojak::expert
