// Not explained: long MPI calls of which no pattern says why. See expert/sums/unexplained.h.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct NotExplained {
  static constexpr Metric kMetric{
      .name = "mpi_unexplained",
      .title = "Not explained",
      .parent = "",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in long MPI calls that no pattern claims.",
      .formula =
          "exclusive duration - claims of patterns - median duration of the function, of calls of "
          "which more than 1 ms and more than 10 medians is unclaimed; of functions that no "
          "pattern "
          "looks at: more than 1 ms; with fewer than 10 calls of a function no median is taken "
          "off; "
          "what depends on evidence of the whole trace (Wait for Progress, and Lock Contention at "
          "targets outside MPI) is taken off the sum of a call path",
      .meaning =
          "These calls lasted far longer than calls of their function usually do in this run, or "
          "may wait for something that leaves no events. The trace does not show why. The same "
          "time is also part of Time.",
      .advice =
          "Look at the calls on the timeline: what did the other processes do meanwhile? Large "
          "transfers, an overloaded machine, file systems and the start of other programs are "
          "usual causes."};
};

}  // namespace kojak::expert
