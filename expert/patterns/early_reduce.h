// Early Reduce. Source: EXPERT patterns 2006, collective communication; the pattern spec.
#pragma once

#include "expert/collective_view.h"
#include "expert/interval.h"
#include "expert/metric.h"

namespace kojak::expert {

struct EarlyReduce {
  static constexpr Metric kMetric{
      .name = "mpi_earlyreduce",
      .title = "Early Reduce",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time of the root of a reduce or gather before any other process entered it.",
      .formula = "overlap(root, [root.enter, earliest enter of the others])",
      .meaning =
          "The root needs data from the others. It counts what it waited before even the first "
          "of them came: a lower bound of its waiting.",
      .advice =
          "Let the root work longer before the call, or the others less; or use the non-"
          "blocking form.",
      .timeline = "root: MPI_Reduce 1-7 ~1-4; rank 1: MPI_Reduce 4-6; rank 2: MPI_Reduce 5-6"};

  static Seconds severity(const Call& root, Seconds earliest_other_enter) {
    return overlap(root, root.enter, earliest_other_enter);
  }

  template <class Analysis>
  static void on_collective(const earl::CollectiveInstance& instance, Analysis& out) {
    if (instance.role() != MpiRole::kAllToOne) return;
    const CollectiveView view(instance, out.definitions());
    const earl::CollectiveMember* root = view.root();
    if (root == nullptr) return;
    const earl::CollectiveMember* first = nullptr;
    for (const earl::CollectiveMember& m : instance.members) {
      if (&m == root || !view.exchange(*root, m)) continue;
      if (first == nullptr || m.call.enter < first->call.enter) first = &m;
    }
    if (first == nullptr) return;
    out.add(EarlyReduce{}, root->call, severity(root->call, first->call.enter),
            enter_of(first->call));
  }
};

}  // namespace kojak::expert
