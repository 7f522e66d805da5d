// Wait at Barrier. Source: EXPERT patterns 2006, collective synchronisation.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct BarrierWait {
  static constexpr Metric kMetric{
      .name = "mpi_barrier_wait",
      .title = "Wait at Barrier",
      .parent = "mpi_sync_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a barrier before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "Processes that reach the barrier early wait there for the last one. The waiting "
          "shows at the early ones; its cause lies in what the last one did before.",
      .advice =
          "Find out which process enters last and what it does before the barrier: it has more "
          "work, or waited itself. Balance the work. If the barrier protects nothing, leave it "
          "out.",
      .timeline =
          "rank 0: MPI_Barrier 1-6 ~1-5; rank 1: MPI_Barrier 5-6; rank 2: MPI_Barrier 3-6 "
          "~3-5",
      .for_the_last = true};

  // `latest_enter` is that of all members of the instance.
  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kBarrier) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      out.add(BarrierWait{}, m.call, severity(m.call, late->call.enter), enter_of(late->call));
    }
  }
};

}  // namespace kojak::expert
