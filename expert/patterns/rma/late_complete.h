// Late Complete. Source: event model 2005, section on inefficiency patterns, where the wait ends
// with the complete of the last transfer; here with the last complete of all.
#pragma once

#include <utility>

#include "earl/aspects/gats_epochs.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct CorrespondingComplete {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latecomplete_pair",
      .title = "Corresponding Complete",
      .parent = "mpi_rma_latecomplete",
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
    return overlap(wait, std::max(wait.waits_from(), last_transfer_exit), its_complete_enter);
  }
};

struct LateComplete {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latecomplete",
      .title = "Late Complete",
      .parent = "mpi_rma_earlywait",
      .summary = "The part of Early Wait after the last transfer to this target had ended.",
      .formula =
          "overlap(w, [max(w.enter, T), C]), T = latest exit of a transfer call to this target,"
          " C = latest enter of Win_complete; 0 without transfers",
      .meaning =
          "The origins had finished their transfers but did not call MPI_Win_complete at once: "
          "this is what the target would have been spared if they had.",
      .advice = "Call MPI_Win_complete directly after the last transfer and compute afterwards.",
      .timeline =
          "target: post 0-1, MPI_Win_wait 2-8 ~4-7; origin: start 1-2, Put 3-4, complete "
          "7-8"};

  // `last_transfer_exit` is that of any transfer call of the transaction to this target.
  static Seconds severity(const Call& wait, Seconds last_transfer_exit,
                          Seconds latest_complete_enter) {
    return overlap(wait, std::max(wait.waits_from(), last_transfer_exit), latest_complete_enter);
  }

  // Of an exposure transaction whose latest Win_complete is known: called by Early Wait.
  template <class Analysis>
  static void evaluate(const earl::ExposureEpoch& epoch, const Call& latest_complete,
                       Analysis& out) {
    // The origin whose transfer ended last; of several, the one that completed last.
    const earl::ExposureOrigin* last = nullptr;
    const auto key = [](const earl::ExposureOrigin& o) {
      return std::pair(o.transfers().unmarked().last_exit,
                       o.access->has_finish ? o.access->finish.enter : Seconds{});
    };
    for (const earl::ExposureOrigin& o : epoch.origins) {
      if (o.access == nullptr) continue;
      const earl::TargetTransfers& transfers = o.transfers();
      if (transfers.unrecorded != 0) return;  // the last transfer may be among them
      if (transfers.unmarked().last_exit == earl::TargetTransfers::kNever) continue;
      if (last == nullptr || key(*last) < key(o)) last = &o;
    }
    if (last == nullptr) return;
    const Seconds last_exit = last->transfers().unmarked().last_exit;
    out.add(LateComplete{}, epoch.finish, severity(epoch.finish, last_exit, latest_complete.enter),
            enter_of(latest_complete), last_exit);
    if (!last->access->has_finish) return;
    out.add(CorrespondingComplete{}, epoch.finish,
            CorrespondingComplete::severity(epoch.finish, last_exit, last->access->finish.enter),
            enter_of(last->access->finish), last_exit);
  }
};

}  // namespace kojak::expert
