// Wait at Reduce: what the root of a reduce or gather waits for the last contribution.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct ReduceWait {
  static constexpr Metric kMetric{
      .name = "mpi_reduce_wait",
      .title = "Wait at Reduce",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time of the root of a reduce or gather before the last contribution came.",
      .formula = "overlap(root, [root.enter, latest enter of the others that contribute data])",
      .meaning =
          "The root needs data from every process that sends any, so it cannot end before the last "
          "of them has entered the call.",
      .advice =
          "Find out which process enters last and why. Let the root do other work before the call, "
          "or use the non-blocking form; balance the work of the others.",
      .timeline = "root: MPI_Reduce 1-7 ~1-5; rank 1: MPI_Reduce 3-4; rank 2: MPI_Reduce 5-6"};

  static Seconds severity(const Call& root, Seconds latest_contribution) {
    return overlap(root, root.enter, latest_contribution);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kAllToOne || view.root() == nullptr) return;
    const Call& root = view.root()->call;
    const earl::CollectiveMember* const late = view.awaited(*view.root());
    if (late == nullptr) return;
    out.add(ReduceWait{}, root, severity(root, late->call.enter), enter_of(late->call));
  }
};

}  // namespace kojak::expert
