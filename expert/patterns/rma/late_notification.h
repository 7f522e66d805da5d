// Late Notification: who reads a value in the memory of another again and again waits for whoever
// changes it. The pattern is kojak's own; docs/format.md, "Polls", says which reads are polls.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct RmaLateNotification {
  static constexpr Metric kMetric{
      .name = "mpi_rma_late_notification",
      .title = "Late Notification",
      .parent = "mpi_rma_communication",
      .summary =
          "Time in reading a value again and again, before the other process entered the call that "
          "changed it.",
      .formula =
          "overlap(s, [first, e]), s = the series of reads that found the old value, first = the "
          "enter of the first of them; e = enter of the last operation that wrote to these bytes, "
          "of those of other processes that were issued before the new value was found and were "
          "not complete at the target when the last read began that found the old one. If there is "
          "none, the target stored it itself: e = exit of that read. What is Wait for Progress in "
          "calls of s of 1 ms or more is left out",
      .meaning =
          "A process waits for a flag, a counter or a ticket in window memory by reading it with "
          "MPI_Get or MPI_Fetch_and_op until it changes. Whoever changes it is late.",
      .advice =
          "Write earlier: right after the data are there, and before other work. Or let the "
          "process "
          "that waits compute first.",
      .timeline = "writer: MPI_Accumulate 5-6; reader: MPI_Get 1-6 ~1-5, MPI_Get 6-7"};

  // `first`: of the reads of that place in this instance.
  static Seconds severity(const Call& series, Seconds first, Seconds changed) {
    return overlap(series, first, changed);
  }
};

}  // namespace kojak::expert
