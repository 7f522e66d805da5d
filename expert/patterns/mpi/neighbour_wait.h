// Wait for Neighbours: neighbourhood collectives.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct NeighbourWait {
  static constexpr Metric kMetric{
      .name = "mpi_wait_neighbours",
      .title = "Wait for Neighbours",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a neighbourhood collective before the last neighbour entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the in-neighbours that send data",
      .meaning =
          "A process needs data from its neighbours in the topology of the communicator, Cartesian "
          "or graph, and from nobody else. It waits for the last of them.",
      .advice =
          "Balance the work among neighbours; or use MPI_Ineighbor_ calls and compute what needs "
          "no "
          "data of others meanwhile.",
      .timeline =
          "left: MPI_Neighbor_alltoall 4-6; middle: MPI_Neighbor_alltoall 1-7 ~1-5; "
          "right: MPI_Neighbor_alltoall 5-6"};

  static Seconds severity(const Call& c, Seconds latest_neighbour) {
    return overlap(c, c.enter, latest_neighbour);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kNeighbor) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      out.add(NeighbourWait{}, m.call, severity(m.call, late->call.enter), enter_of(late->call));
    }
  }
};

}  // namespace kojak::expert
