// UPC's barrier in two phases: who waits in upc_wait for the last upc_notify. Found as waits for
// begun operations are (begun_waits.h). Source: UPC 1.3, 6.6.1; the pattern is kojak's own.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct UpcSplitphaseWait {
  static constexpr Metric kMetric{
      .name = "upc_splitphase_wait",
      .title = "Wait at Split Barrier",
      .parent = "upc_sync_collective",
      .summary = "Time in upc_wait before the last thread entered the upc_notify of that phase.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the phase's upc_notify calls",
      .meaning =
          "A barrier in two phases lets a thread work between upc_notify and upc_wait. What it "
          "waits in upc_wait all the same is that a thread tells the others too late that it has "
          "come.",
      .advice =
          "Call upc_notify as early as the data allow, and do more work between it and upc_wait.",
      .timeline =
          "thread 0: upc_notify 1-2, upc_wait 3-7 ~3-6; thread 1: upc_notify 6-7, upc_wait 7-8",
      .needs = Needs::kUpc};

  static Seconds severity(const Call& c, Seconds latest_notify) {
    return overlap(c, c.enter, latest_notify);
  }
};

}  // namespace kojak::expert
