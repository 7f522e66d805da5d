// Early Scan. Source: EXPERT patterns 2006, collective communication; the pattern spec.
#pragma once

#include <algorithm>
#include <vector>

#include "earl/state/collectives.h"
#include "expert/interval.h"
#include "expert/metric.h"

namespace kojak::expert {

struct EarlyScan {
  static constexpr Metric kMetric{
      .name = "mpi_earlyscan",
      .title = "Early Scan",
      .parent = "mpi_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a prefix reduction before the last of the lower ranks entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter among the ranks below that of c",
      .meaning =
          "Each process needs the contributions of all lower ranks of the communicator, in the "
          "order of its ranks. A process that comes before them waits.",
      .advice =
          "Let lower ranks reach the call first, or order the ranks of the communicator by the "
          "time at which they are ready.",
      .timeline = "rank 0: MPI_Scan 5-6; rank 1: MPI_Scan 1-7 ~1-5; rank 2: MPI_Scan 3-7 ~3-5"};

  // `latest_lower_enter` is that of the ranks below the caller's; rank 0 has none.
  static Seconds severity(const Call& c, Seconds latest_lower_enter) {
    return overlap(c, c.enter, latest_lower_enter);
  }

  template <class Analysis>
  void on_collective(const earl::CollectiveInstance& instance, Analysis& out) {
    if (instance.role() != MpiRole::kPrefix) return;
    by_rank_.clear();
    for (const earl::CollectiveMember& m : instance.members) by_rank_.push_back(&m);
    std::sort(by_rank_.begin(), by_rank_.end(),
              [](const auto* a, const auto* b) { return a->rank < b->rank; });
    const earl::CollectiveMember* latest = nullptr;  // of the ranks below
    for (const earl::CollectiveMember* m : by_rank_) {
      if (latest != nullptr) {
        out.add(EarlyScan{}, m->call, severity(m->call, latest->call.enter),
                enter_of(latest->call));
      }
      if (latest == nullptr || latest->call.enter < m->call.enter) latest = m;
    }
  }

 private:
  // Kept from instance to instance for its memory only.
  std::vector<const earl::CollectiveMember*> by_rank_;
};

}  // namespace kojak::expert
