// Time, Execution, Overhead and Visits: the roots of the tree. Source: docs/patterns.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct Time {
  static constexpr Metric kMetric{
      .name = "time",
      .title = "Time",
      .kind = Metric::Kind::kSummand,
      .summary = "Time of all processes and threads together, by call path.",
      .formula = "exclusive time of every call path",
      .meaning =
          "The time that the run occupied on its locations, each location from its first "
          "event to its last. Everything in seconds below is a part of it."};
};

struct Execution {
  static constexpr Metric kMetric{
      .name = "execution",
      .title = "Execution",
      .parent = "time",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kUser,
      .summary = "Time without the measurement's own work.",
      .formula = "Time of every call path other than TRACING and PAUSING",
      .meaning =
          "What is left when the measurement system's own work is taken away: the program's "
          "computation and its MPI calls. Computation alone is this node without its "
          "children."};
};

struct Service {
  static constexpr Metric kMetric{
      .name = "service",
      .title = "Service",
      .parent = "time",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kService,
      .summary = "Time of processes that serve the others.",
      .meaning =
          "Some communication libraries keep a process for themselves: it never comes back from "
          "the "
          "call that starts the library, and answers the requests of the others there until the "
          "end. "
          "That it waits for requests is its task: no waiting is counted in it, and shares and "
          "efficiencies leave its time out.",
      .needs = Needs::kService};
};

struct Overhead {
  static constexpr Metric kMetric{
      .name = "overhead",
      .title = "Overhead",
      .parent = "time",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kOverhead,
      .summary = "Time in which the measurement system worked or recording was switched off.",
      .formula = "exclusive time of the regions TRACING and PAUSING",
      .meaning =
          "Writing the trace buffer to its file, measuring clock offsets, and the time for "
          "which the program switched recording off. Nothing is known of what the program "
          "did meanwhile, and no pattern counts it.",
      .advice =
          "If flushing takes long, enlarge the buffer (ELG_BUFFER_SIZE) or record fewer "
          "functions (ELG_MPI)."};
};

struct Visits {
  static constexpr Metric kMetric{
      .name = "visits",
      .title = "Visits",
      .unit = Unit::kOccurrences,
      .kind = Metric::Kind::kSummand,
      .summary = "How often each call path was entered.",
      .meaning =
          "Divide a time by the visits of its call path to see whether few long calls or "
          "many short ones make it up."};
};

}  // namespace kojak::expert
