// Wait at Free. Source: event model 2005 and EXPERT patterns 2006, window management.
#pragma once

#include "earl/aspects/window_collectives.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct WindowFreeWait {
  static constexpr Metric kMetric{
      .name = "mpi_rma_wait_window_free",
      .title = "Wait at Free",
      .parent = "mpi_rma_window_management",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a window's release before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "Freeing a window is collective and waits for every member: nobody may free memory "
          "that others still access.",
      .advice =
          "Free windows where processes are synchronised anyway, or at the end of the program.",
      .timeline = "rank 0: MPI_Win_free 1-6 ~1-5; rank 1: MPI_Win_free 5-6",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }

  template <class Analysis>
  static void on_window_collective(const earl::WindowInstance& instance, Analysis& out) {
    if (instance.role != MpiRole::kWinFree) return;
    const Call* last_in = &instance.members.front().call;
    for (const earl::WindowMember& m : instance.members) {
      if (last_in->enter < m.call.enter) last_in = &m.call;
    }
    for (const earl::WindowMember& m : instance.members) {
      out.add(WindowFreeWait{}, m.call, severity(m.call, last_in->enter), enter_of(*last_in));
    }
  }
};

}  // namespace kojak::expert
