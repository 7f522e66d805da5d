// Early Scan. Source: EXPERT patterns 2006, collective communication.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct EarlyScan {
  static constexpr Metric kMetric{
      .name = "mpi_earlyscan",
      .title = "Early Scan",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a prefix reduction before the last of the lower ranks entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter among the ranks below that of c",
      .meaning =
          "Each process needs the contributions of all lower ranks of the communicator, in the "
          "order of its ranks. A process that comes before them waits.",
      .advice =
          "Let lower ranks reach the call first, or order the ranks of the communicator by the "
          "time at which they are ready.",
      .timeline = "rank 0: MPI_Scan 5-6; rank 1: MPI_Scan 1-7 ~1-5; rank 2: MPI_Scan 3-7 ~3-5"};

  // `latest_lower_enter` is that of the ranks below the caller's; rank 0 has none.
  static Seconds severity(const Call& c, Seconds latest_lower_enter) {
    return overlap(c, c.enter, latest_lower_enter);
  }

  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() != MpiRole::kPrefix) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const late = view.awaited(m);
      if (late == nullptr) continue;
      out.add(EarlyScan{}, m.call, severity(m.call, late->call.enter), enter_of(late->call));
    }
  }
};

}  // namespace kojak::expert
