// Wait at Create. Source: event model 2005 and EXPERT patterns 2006, window management.
#pragma once

#include "earl/aspects/window_collectives.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct WindowCreateWait {
  static constexpr Metric kMetric{
      .name = "mpi_rma_wait_window_create",
      .title = "Wait at Create",
      .parent = "mpi_rma_window_management",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a window's creation before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning = "Creating a window is collective and waits for every member.",
      .advice =
          "Create windows early, where all processes pass at the same time anyway, and keep "
          "them.",
      .timeline = "rank 0: MPI_Win_create 1-6 ~1-5; rank 1: MPI_Win_create 5-6",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }

  template <class Analysis>
  static void on_window_collective(const earl::WindowInstance& instance, Analysis& out) {
    if (instance.role != MpiRole::kWinCreate) return;
    const Call* last_in = &instance.members.front().call;
    for (const earl::WindowMember& m : instance.members) {
      if (last_in->enter < m.call.enter) last_in = &m.call;
    }
    for (const earl::WindowMember& m : instance.members) {
      out.add(WindowCreateWait{}, m.call, severity(m.call, last_in->enter), enter_of(*last_in));
    }
  }
};

}  // namespace kojak::expert
