// Late Broadcast. Source: EXPERT patterns 2006, collective communication.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct LateBroadcast {
  static constexpr Metric kMetric{
      .name = "mpi_latebroadcast",
      .title = "Late Broadcast",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a broadcast or scatter before its root entered it.",
      .formula = "overlap(c, [c.enter, root.enter]) for every process but the root",
      .meaning = "The data come from the root, so processes that call first wait for it.",
      .advice =
          "Let the root do less before the call, or send its data earlier; or use the non-"
          "blocking form where the data are not needed at once.",
      .timeline = "root: MPI_Bcast 5-6; rank 1: MPI_Bcast 1-7 ~1-5; rank 2: MPI_Bcast 3-7 ~3-5"};

  // Of a call at any process but the root.
  static Seconds severity(const Call& c, Seconds root_enter) {
    return overlap(c, c.enter, root_enter);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kOneToAll) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const root = view.awaited(m);
      if (root == nullptr) continue;
      out.add(LateBroadcast{}, m.call, severity(m.call, root->call.enter), enter_of(root->call));
    }
  }
};

}  // namespace kojak::expert
