// Corresponding Complete: the papers' Late Complete. Source: event model 2005, inefficiency
// patterns.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct CorrespondingComplete {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latecomplete_pair",
      .title = "Corresponding Complete",
      .parent = "mpi_rma_latecomplete",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "The part of Late Complete due to the origin that made the last transfer.",
      .formula =
          "as Late Complete, up to the enter of the Win_complete that closed the access epoch "
          "of the last transfer",
      .meaning =
          "How long the origin whose transfer ended last kept the target waiting between that "
          "transfer and its MPI_Win_complete. The rest of Late Complete is due to other "
          "origins.",
      .advice =
          "See Late Complete; if this is small against it, look at the origins whose transfers "
          "ended early.",
      .timeline =
          "target: post 0-1, MPI_Win_wait 2-8 ~4-6; origin 1: start 0-1, Put 3-4, "
          "complete 6-7; origin 2: start 0-1, complete 7-8"};

  static Seconds severity(const Call& wait, Seconds last_transfer_exit,
                          Seconds its_complete_enter) {
    return overlap(wait, std::max(wait.enter, last_transfer_exit), its_complete_enter);
  }
};

}  // namespace kojak::expert
