// The classes of synchronisation time under which the waiting patterns stand. Source:
// docs/patterns.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct Barrier {
  static constexpr Metric kMetric{.name = "mpi_sync_collective",
                                  .title = "Barrier",
                                  .parent = "mpi_synchronization",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kBarrier,
                                  .summary = "Time in MPI_Barrier.",
                                  .formula = "",
                                  .meaning =
                                      "All time in barriers: waiting for the last process, "
                                      "and the barrier's own work.",
                                  .advice =
                                      "Check whether the barrier is needed at all: messages and "
                                      "epochs synchronise by themselves."};
};

struct RmaSynchronization {
  static constexpr Metric kMetric{
      .name = "mpi_rma_synchronization",
      .title = "One-sided",
      .parent = "mpi_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in the synchronisation of one-sided communication.",
      .formula = "",
      .meaning =
          "Creating and freeing windows, fences, post, start, complete and wait, and locks. "
          "It includes the data transfer where the implementation does it at the end of the "
          "epoch.",
      .advice = ""};
};

struct WindowManagement {
  static constexpr Metric kMetric{
      .name = "mpi_rma_window_management",
      .title = "Window Management",
      .parent = "mpi_rma_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kWindowManagement,
      .summary = "Time in creating and freeing windows.",
      .formula = "",
      .meaning = "Collective calls over the window's communicator; both synchronise.",
      .advice = "Create windows once and keep them."};
};

struct Fence {
  static constexpr Metric kMetric{
      .name = "mpi_rma_fence",
      .title = "Fence",
      .parent = "mpi_rma_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kFence,
      .summary = "Time in MPI_Win_fence.",
      .formula = "",
      .meaning = "Waiting for other members of the window, and completing transfers.",
      .advice =
          "A fence synchronises all members of the window. Where only neighbours exchange "
          "data, post, start, complete and wait involve fewer processes."};
};

struct GeneralActiveTarget {
  static constexpr Metric kMetric{
      .name = "mpi_rma_gat_synchronization",
      .title = "General Active Target",
      .parent = "mpi_rma_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kGeneralActiveTarget,
      .summary = "Time in MPI_Win_post, start, complete, wait and test.",
      .formula = "",
      .meaning = "Opening and closing access and exposure epochs among groups of processes.",
      .advice = ""};
};

struct PassiveTarget {
  static constexpr Metric kMetric{
      .name = "mpi_rma_lock_synchronization",
      .title = "Passive Target",
      .parent = "mpi_rma_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kPassiveTarget,
      .summary = "Time in locking, unlocking and flushing windows.",
      .formula = "",
      .meaning =
          "MPI_Win_lock and unlock, the _all forms, the flush calls and MPI_Win_sync. If the MPI "
          "library delays transfers, it does them in these calls.",
      .advice = ""};
};

}  // namespace kojak::expert
