// Early Transfer. Source: event model 2005, section on inefficiency patterns, where the post of the
// pair counts; here all posts of the transaction: a put may wait for any of them.
#pragma once

#include <algorithm>
#include <vector>

#include "expert/metrics/metric.h"
#include "expert/patterns/rma/marked_transfers.h"
#include "expert/patterns/rma/posts.h"

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
          "A transfer cannot reach a target whose window is not exposed yet, and a large transfer "
          "waits inside the call. Measurements show that it waits for the last post of the epoch's "
          "group, not only for that of its own target.",
      .advice =
          "Let the targets post earlier, or do other work between MPI_Win_start and the first "
          "transfer.",
      .timeline = "origin: start 0-1, MPI_Put 2-7 ~2-6; target 1: post 1-2; target 2: post 6-7"};

  static Seconds severity(const Call& transfer, std::span<const Cause> posts) {
    return blocked(transfer, posts);
  }

  template <class Analysis>
  void on_epoch_call(const Call& call, const earl::AccessEpoch& epoch, Analysis& out) {
    collect_posts(epoch, call, out, posts_);
    const Seconds waited = severity(call, posts_);
    if (waited > Seconds{0}) {
      open_.push_back({&epoch, call, waited, blocked_by(call, posts_)});
    }
  }
  // A transfer that the merge could not place takes part in no pattern; that is known when its end
  // comes, before or after its call is offered.
  template <class Analysis>
  void on_marked_transfer(RmaId rmaid, const earl::AccessEpoch* epoch, Analysis&) {
    if (epoch != nullptr) marks_.add(epoch, rmaid);
  }
  // Whether recording was off in the epoch, and which transfers are marked, is known when it is
  // over.
  template <class Analysis>
  void on_access_transaction(const earl::AccessEpoch& epoch, Analysis& out) {
    if (!open_.empty()) {
      std::erase_if(open_, [&](const Claim& claim) {
        if (claim.epoch != &epoch) return false;
        if (!epoch.paused && !marks_.any(&epoch, claim.call)) {
          out.add(EarlyTransfer{}, claim.call, claim.waited, claim.by);
        }
        return true;
      });
    }
    marks_.forget(&epoch);
  }

 private:
  struct Claim {
    const earl::AccessEpoch* epoch;
    Call call;
    Seconds waited;
    EndedBy by;
  };
  std::vector<Claim> open_;   // calls that waited, of epochs that are not over
  MarkedTransfers marks_;     // of epochs that are not over
  std::vector<Cause> posts_;  // kept from call to call for its memory only
};

}  // namespace kojak::expert
