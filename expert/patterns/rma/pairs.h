// Synchronised pairs, and those that moved no data. Source: EXPERT patterns 2006, "synchronisation
// pairs".
#pragma once

#include <algorithm>
#include <cstdint>

#include "earl/aspects/fence_epochs.h"
#include "earl/aspects/gats_epochs.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

struct SynchronisedPairs {
  static constexpr Metric kMetric{
      .name = "mpi_rma_pairsync_count",
      .title = "Synchronised pairs",
      .parent = "",
      .unit = Unit::kOccurrences,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Pairs of processes that fences and access epochs synchronised.",
      .formula =
          "at the closing call (Win_complete; Win_fence from the second on): members of its "
          "group other than the caller",
      .meaning =
          "Each closing call synchronises its process with every other member of the "
          "window or group, whether they exchanged data or not. Windows of shared memory "
          "are left out: their loads and stores leave no events.",
      .advice = ""};

  // Pairs that an access epoch of a group synchronised: its targets other than the origin.
  static std::uint64_t count(const earl::AccessEpoch& epoch) {
    return static_cast<std::uint64_t>(
        std::count_if(epoch.targets.begin(), epoch.targets.end(),
                      [&](const earl::AccessTarget& t) { return t.target != epoch.origin; }));
  }
  // Pairs that a fence synchronised: all members but the caller. The first fence ends no epoch.
  static std::uint64_t count(const earl::FenceEpoch& epoch) {
    return epoch.ordinal == 0 || epoch.size == 0 ? 0 : epoch.size - 1;
  }

  template <class Analysis>
  static void on_access_epoch(const earl::AccessEpoch& epoch, Analysis& out) {
    if (out.shared_memory(epoch.window)) return;
    out.add(SynchronisedPairs{}, epoch.finish, count(epoch));
  }
  template <class Analysis>
  static void on_fence_epoch(const earl::FenceEpoch& epoch, Analysis& out) {
    if (out.shared_memory(epoch.window)) return;
    out.add(SynchronisedPairs{}, *epoch.call, count(epoch));
  }
};

struct UnneededPairs {
  static constexpr Metric kMetric{
      .name = "mpi_rma_pairsync_unneeded_count",
      .title = "Unneeded",
      .parent = "mpi_rma_pairsync_count",
      .unit = Unit::kOccurrences,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Synchronised pairs without a transfer between them in the epoch.",
      .formula = "those pairs to whose target the origin made no transfer in the epoch",
      .meaning =
          "Synchronisation with a process to which nothing was transferred. With fences and "
          "few neighbours, most pairs are of this kind.",
      .advice =
          "Replace fences by post, start, complete and wait among the processes that do "
          "exchange data, or give MPI_Win_start only the targets that are accessed."};

  static std::uint64_t count(const earl::AccessEpoch& epoch) {
    return static_cast<std::uint64_t>(
        std::count_if(epoch.targets.begin(), epoch.targets.end(), [&](const earl::AccessTarget& t) {
          return t.target != epoch.origin && t.transfers.ops == 0;
        }));
  }
  // 0 where recording was off in the epoch: it is not known what was transferred.
  static std::uint64_t count(const earl::FenceEpoch& epoch, ProcessId origin) {
    if (epoch.gap) return 0;
    const auto needed = static_cast<std::uint64_t>(std::count_if(
        epoch.targets.begin(), epoch.targets.end(),
        [&](const earl::FenceTarget& t) { return t.target != origin && t.transfers.ops != 0; }));
    const std::uint64_t pairs = SynchronisedPairs::count(epoch);
    return pairs > needed ? pairs - needed : 0;
  }

  template <class Analysis>
  static void on_access_epoch(const earl::AccessEpoch& epoch, Analysis& out) {
    if (out.shared_memory(epoch.window)) return;
    out.add(UnneededPairs{}, epoch.finish, count(epoch));
  }
  template <class Analysis>
  static void on_fence_epoch(const earl::FenceEpoch& epoch, Analysis& out) {
    if (out.shared_memory(epoch.window)) return;
    out.add(UnneededPairs{}, *epoch.call, count(epoch, epoch.call->process));
  }
};

}  // namespace kojak::expert
