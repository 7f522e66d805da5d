// Early Transfer. Source: event model 2005, section on inefficiency patterns; differs as the spec
// says.
#pragma once

#include <vector>

#include "expert/metric.h"
#include "expert/posts.h"

namespace kojak::expert {

struct EarlyTransfer {
  static constexpr Metric kMetric{
      .name = "mpi_rma_earlytransfer",
      .title = "Early Transfer",
      .parent = "mpi_rma_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a transfer call of an access epoch before the targets had posted.",
      .formula = "blocked(c, enters of Win_post of the whole access transaction)",
      .meaning =
          "A transfer cannot reach a target whose window is not exposed yet, and large ones "
          "wait inside the call: for the last post of the epoch's group, as measured, not only "
          "for that of their own target.",
      .advice =
          "Let the targets post earlier, or do other work between MPI_Win_start and the first "
          "transfer."};

  static Seconds severity(const Call& transfer, std::span<const Cause> posts) {
    return blocked(transfer, posts);
  }

  template <class Analysis>
  void on_epoch_call(const Call& call, const earl::AccessEpoch& epoch, Analysis& out) {
    if (epoch.paused) return;
    collect_posts(epoch, call, out, posts_);
    out.add(EarlyTransfer{}, call, severity(call, posts_));
  }

 private:
  // Kept from call to call for its memory only.
  std::vector<Cause> posts_;
};

}  // namespace kojak::expert
