// MPI and the classes of its time that have no patterns of their own. A region belongs to one class
// by the table of MPI functions. Source: docs/patterns.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct Mpi {
  static constexpr Metric kMetric{.name = "mpi",
                                  .title = "MPI",
                                  .parent = "execution",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = {},
                                  .summary = "Time in MPI calls.",
                                  .formula = "",
                                  .meaning = "All time inside functions of MPI, whatever they do.",
                                  .advice = ""};
};

struct Communication {
  static constexpr Metric kMetric{
      .name = "mpi_communication",
      .title = "Communication",
      .parent = "mpi",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in MPI calls that move data.",
      .formula = "",
      .meaning =
          "Point-to-point, collective and one-sided communication. Its patterns tell how "
          "much of it was waiting for another process rather than moving data.",
      .advice = ""};
};

struct Synchronization {
  static constexpr Metric kMetric{
      .name = "mpi_synchronization",
      .title = "Synchronization",
      .parent = "mpi",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in MPI calls that only synchronise.",
      .formula = "",
      .meaning = "Barriers, and the calls that open and close epochs of one-sided communication.",
      .advice = ""};
};

struct FileIo {
  static constexpr Metric kMetric{
      .name = "mpi_io",
      .title = "File I/O",
      .parent = "mpi",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kIo,
      .summary = "Time in MPI file operations.",
      .formula = "",
      .meaning = "MPI_File_ calls, and waits that completed file operations only.",
      .advice =
          "Collective file operations with large contiguous pieces are usually fastest; "
          "hints (striping, aggregators) matter on parallel file systems."};
};

struct InitExit {
  static constexpr Metric kMetric{
      .name = "mpi_init_exit",
      .title = "Init/Exit",
      .parent = "mpi",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kInitExit,
      .summary = "Time in MPI's initialisation and finalisation.",
      .formula = "",
      .meaning =
          "Start-up and shut-down of the MPI library. It weighs heavily in short test runs "
          "and little in long ones. Processes that reach MPI_Finalize early wait there.",
      .advice = ""};
};

struct Management {
  static constexpr Metric kMetric{
      .name = "mpi_management",
      .title = "Management",
      .parent = "mpi",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kManagement,
      .summary = "Time in MPI calls that manage communicators, groups, types, requests or memory.",
      .formula = "",
      .meaning =
          "All calls that are not communication, synchronisation, file I/O, or start and end of "
          "MPI. Creating communicators synchronises their members.",
      .advice = "Create communicators, groups and types once, outside loops."};
};

}  // namespace kojak::expert
