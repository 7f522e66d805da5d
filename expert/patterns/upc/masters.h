// UPC: a thread that gives the others work, or data, and for which they wait; and what it waits for
// them. Both name waits that other patterns have already, and enter no sum. See
// expert/sums/masters.h. Source: UPC paper 2002, master and workers; the rules are kojak's own.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct UpcLateMaster {
  static constexpr Metric kMetric{
      .name = "upc_master_late",
      .title = "Late Master",
      .kind = Metric::Kind::kSummand,
      .summary = "Waits of workers for the one thread for which most of them wait.",
      .formula =
          "of Late Broadcast, Lock Contention, Late Notification and Wait for Progress, the waits "
          "for the thread for which the others wait longest there; 0 if that is less than half of "
          "all such waits, or less than 1 % of the time",
      .meaning =
          "One thread hands out work or data, and the others come faster than it answers. The same "
          "time is also part of Time, at the patterns that found it.",
      .advice =
          "Hand out larger pieces, let the master compute less itself, or let workers take work "
          "from each other.",
      .needs = Needs::kUpc};
};

struct UpcIdleMaster {
  static constexpr Metric kMetric{
      .name = "upc_master_idle",
      .title = "Idle Master",
      .kind = Metric::Kind::kSummand,
      .summary = "What the thread for which the others wait most waits for them.",
      .formula =
          "waits of the thread that Late Master names, in Wait at Reduce, Lock Contention and Late "
          "Notification",
      .meaning =
          "The same thread is the bottleneck at one time and has nothing to do at another. The "
          "same time is also part of Time, at the patterns that found it.",
      .advice = "Let it compute while it waits for results, or hand out smaller pieces.",
      .needs = Needs::kUpc};
};

}  // namespace kojak::expert
