// Before First Post: the papers' Late Post. Source: event model 2005, section on inefficiency
// patterns.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct BeforeFirstPost {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latepost_first",
      .title = "Before First Post",
      .parent = "mpi_rma_latepost",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "The part of Late Post before even the first target had posted.",
      .formula = "blocked(c, the earliest post's enter alone)",
      .meaning =
          "With several targets, how long the origin waited until the first of them exposed its "
          "window. The rest of Late Post is waiting for the other targets.",
      .advice =
          "If this is much smaller than Late Post, a single slow target holds the origin up: "
          "start separate epochs, or order the work so that all targets post at about the same "
          "time.",
      .timeline =
          "origin: MPI_Win_start 1-7 ~1-3, Put 7-8; target 1: post 3-4; target 2: post "
          "6-7"};

  static Seconds severity(const Call& c, Cause earliest_post) { return blocked(c, earliest_post); }
};

}  // namespace kojak::expert
