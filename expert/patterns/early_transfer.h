// Early Transfer. Source: event model 2005, section on inefficiency patterns; differs as the spec
// says.
#pragma once

#include <algorithm>
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
    const Seconds waited = severity(call, posts_);
    if (waited > Seconds{0}) open_.push_back({&epoch, call, waited});
  }
  // Which transfers the merge could not place is known when the epoch is over. An epoch with such
  // transfers takes no part.
  template <class Analysis>
  void on_access_transaction(const earl::AccessEpoch& epoch, Analysis& out) {
    if (open_.empty()) return;
    const bool whole = std::all_of(epoch.targets.begin(), epoch.targets.end(),
                                   [](const auto& target) { return target.transfers.marked == 0; });
    std::erase_if(open_, [&](const Claim& claim) {
      if (claim.epoch != &epoch) return false;
      if (whole) out.add(EarlyTransfer{}, claim.call, claim.waited);
      return true;
    });
  }

 private:
  struct Claim {
    const earl::AccessEpoch* epoch;
    Call call;
    Seconds waited;
  };
  std::vector<Claim> open_;   // calls that waited, of epochs that are not over
  std::vector<Cause> posts_;  // kept from call to call for its memory only
};

}  // namespace kojak::expert
