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
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kPointToPoint,
      .summary = "Time in sends, receives and the completion of their requests.",
      .meaning =
          "A Wait or Test call counts here, unless it completed only one-sided, collective or file "
          "operations."};
};

struct Collective {
  static constexpr Metric kMetric{
      .name = "mpi_collective",
      .title = "Collective",
      .parent = "mpi_communication",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kCollective,
      .summary = "Time in collective communication.",
      .meaning =
          "Collective calls, barriers apart, and waits that completed non-blocking "
          "collectives only."};
};

struct RmaCommunication {
  static constexpr Metric kMetric{
      .name = "mpi_rma_communication",
      .title = "One-sided",
      .parent = "mpi_communication",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kRmaCommunication,
      .summary = "Time in one-sided transfers: put, get, accumulate and the like.",
      .meaning =
          "The calls that issue one-sided operations, and waits that completed such "
          "operations only. Many implementations move the data in the synchronisation call "
          "that ends the epoch; then this is small and the time stands there."};
};

}  // namespace kojak::expert
