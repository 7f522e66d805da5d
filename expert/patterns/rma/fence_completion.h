// Fence Completion: what Barrier Completion is for a barrier. Source: ours; EXPERT patterns 2006
// has it for collective synchronisation only.
#pragma once

#include <algorithm>

#include "earl/aspects/window_collectives.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/rma/fence_wait.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct FenceCompletion {
  static constexpr Metric kMetric{
      .name = "mpi_rma_fence_completion",
      .title = "Fence Completion",
      .parent = "mpi_rma_fence",
      .summary = "Time in a fence after the first process had left it.",
      .formula =
          "overlap(c, [max(first exit, L), c.exit]), L = latest enter of the instance; 0 with "
          "MPI_MODE_NOPRECEDE, or if somebody left before the last came",
      .meaning =
          "A fence does not let all processes go at the same moment. This is the time from "
          "the first one's exit to each one's own, in which the process also completes the "
          "transfers that the fence ends.",
      .advice =
          "Large values come from transfers that begin only in the fence, from a busy machine "
          "or network, or from many processes. Fewer fences help, and post, start, complete "
          "and wait with those processes only that exchange data.",
      .timeline =
          "rank 0: MPI_Win_fence 1-5; rank 1: MPI_Win_fence 4-7 ~5-7; rank 2: "
          "MPI_Win_fence 2-6 ~5-6",
      .nobody_awaited = true};

  static Seconds severity(const Call& c, Seconds latest_enter, Seconds first_exit) {
    return completion(c, latest_enter, first_exit);
  }

  template <class Analysis>
  static void on_window_collective(const earl::WindowInstance& instance, Analysis& out) {
    if (instance.role != MpiRole::kWinFence) return;
    const FenceEdges edges(instance);
    if (edges.noprecede || !edges.synchronised(out)) return;
    const Seconds all_in = edges.last_in->call.enter, first_out = edges.first_out->call.exit;
    for (const earl::WindowMember& m : instance.members) {
      out.add(FenceCompletion{}, m.call, severity(m.call, all_in, first_out), EndedBy{},
              std::max(first_out, all_in));
    }
  }
};

}  // namespace kojak::expert
