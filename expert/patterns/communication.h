// The three classes of communication time under which the waiting patterns stand. Source:
// docs/patterns.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct PointToPoint {
  static constexpr Metric kMetric{
      .name = "mpi_point2point",
      .title = "Point-to-point",
      .parent = "mpi_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kPointToPoint,
      .summary = "Time in sends, receives and the completion of their requests.",
      .formula = "",
      .meaning =
          "A Wait or Test call counts here, unless it completed only one-sided, collective or file "
          "operations.",
      .advice = ""};
};

struct Collective {
  static constexpr Metric kMetric{
      .name = "mpi_collective",
      .title = "Collective",
      .parent = "mpi_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kCollective,
      .summary = "Time in collective communication.",
      .formula = "",
      .meaning =
          "Collective calls, barriers apart, and waits that completed non-blocking "
          "collectives only.",
      .advice = ""};
};

struct RmaCommunication {
  static constexpr Metric kMetric{
      .name = "mpi_rma_communication",
      .title = "One-sided",
      .parent = "mpi_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kRmaCommunication,
      .summary = "Time in one-sided transfers: put, get, accumulate and the like.",
      .formula = "",
      .meaning =
          "The calls that issue one-sided operations, and waits that completed such "
          "operations only. Many implementations move the data in the synchronisation call "
          "that ends the epoch; then this is small and the time stands there.",
      .advice = ""};
};

}  // namespace kojak::expert
