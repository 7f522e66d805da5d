// Early Reduce. Source: EXPERT patterns 2006, collective communication.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct EarlyReduce {
  static constexpr Metric kMetric{
      .name = "mpi_earlyreduce",
      .title = "Early Reduce",
      .parent = "mpi_reduce_wait",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time of the root of a reduce or gather before any other process entered it.",
      .formula = "overlap(root, [root.enter, earliest enter of the others that contribute data])",
      .meaning =
          "The part of Wait at Reduce before even the first of the others came: for this time the "
          "root was earlier than everybody else.",
      .advice =
          "Let the root work longer before the call, or the others less; or use the non-"
          "blocking form.",
      .timeline = "root: MPI_Reduce 1-7 ~1-4; rank 1: MPI_Reduce 4-6; rank 2: MPI_Reduce 5-6"};

  static Seconds severity(const Call& root, Seconds earliest_other_enter) {
    return overlap(root, root.enter, earliest_other_enter);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kAllToOne || view.first_contributor() == nullptr) return;
    const Call& root = view.root()->call;
    const Call& first = view.first_contributor()->call;
    out.add(EarlyReduce{}, root, severity(root, first.enter), enter_of(first));
  }
};

}  // namespace kojak::expert
