// Early Wait. Source: event model 2005, section on inefficiency patterns.
#pragma once

#include <unordered_map>
#include <vector>

#include "expert/patterns/rma/indirect_wait.h"
#include "expert/patterns/rma/late_complete.h"

namespace kojak::expert {

struct EarlyWait {
  static constexpr Metric kMetric{
      .name = "mpi_rma_earlywait",
      .title = "Early Wait",
      .parent = "mpi_rma_gat_synchronization",
      .summary =
          "Time in MPI_Win_wait before the last origin entered MPI_Win_complete, or while this "
          "call waited itself.",
      .formula =
          "overlap(w, [w.enter, C]), C = latest enter of the Win_complete calls of the exposure"
          " transaction; and Indirect Wait after it",
      .meaning =
          "The target ends its exposure epoch before the origins have ended theirs, and waits "
          "for the last of them.",
      .advice =
          "Let the target compute before MPI_Win_wait, or the origins complete earlier; see "
          "Late Complete for what the origins alone could save.",
      .timeline =
          "target: post 0-1, MPI_Win_wait 2-8 ~2-7; origin: start 1-2, Put 3-4, complete "
          "7-8"};

  static Seconds severity(const Call& wait, Seconds latest_complete_enter) {
    return overlap(wait, wait.waits_from(), latest_complete_enter);
  }

  // The origin that completed last, if nothing is missing that it depends on; of several at the
  // same time the one whose Win_complete ended last.
  static const earl::ExposureOrigin* last_origin(const earl::ExposureEpoch& epoch) {
    if (epoch.paused || !epoch.has_finish) return nullptr;
    const earl::ExposureOrigin* last = nullptr;
    for (const earl::ExposureOrigin& o : epoch.origins) {
      if (o.access == nullptr || !o.access->has_finish) continue;
      if (o.access->paused) return nullptr;
      const Call& complete = o.access->finish;
      if (last == nullptr || last->access->finish.enter < complete.enter ||
          (last->access->finish.enter == complete.enter &&
           last->access->finish.exit < complete.exit)) {
        last = &o;
      }
    }
    return last;
  }
  // Its access epoch.
  static const earl::AccessEpoch* last_completed(const earl::ExposureEpoch& epoch) {
    const earl::ExposureOrigin* const last = last_origin(epoch);
    return last == nullptr ? nullptr : last->access;
  }

  template <class Analysis>
  void on_exposure_transaction(const earl::ExposureEpoch& epoch, Analysis& out) {
    const earl::ExposureOrigin* const origin = last_origin(epoch);
    if (origin == nullptr) return;
    const earl::AccessEpoch* const last = origin->access;
    EndedBy by = enter_of(last->finish);
    if (origin->transfers().ops != 0) by.idle_since = origin->transfers().last_exit;
    out.add(EarlyWait{}, epoch.finish, severity(epoch.finish, last->finish.enter), by);
    LateComplete::evaluate(epoch, last->finish, out);
    if (!(last->finish.enter < epoch.finish.exit)) return;
    if (IndirectWait::collect_others(*last, epoch.target, out, posts_) || last->over) {
      wait_indirectly(epoch.finish, last->finish, out);
    } else {
      unsettled_[last].push_back({epoch.finish, epoch.target});
    }
  }
  // Now all posts of the epoch are known that will be.
  template <class Analysis>
  void on_access_transaction(const earl::AccessEpoch& epoch, Analysis& out) {
    if (unsettled_.empty()) [[likely]]
      return;
    const auto waits = unsettled_.find(&epoch);
    if (waits == unsettled_.end()) return;
    for (const Unsettled& u : waits->second) {
      IndirectWait::collect_others(epoch, u.target, out, posts_);
      wait_indirectly(u.wait, epoch.finish, out);
    }
    unsettled_.erase(waits);
  }

 private:
  struct Unsettled {
    Call wait;
    ProcessId target;
  };

  template <class Analysis>
  void wait_indirectly(const Call& wait, const Call& complete, Analysis& out) {
    const Cause* const post = deciding_cause(complete, posts_);
    if (post == nullptr) return;
    const Seconds waited = IndirectWait::severity(wait, complete, post->time);
    out.add(IndirectWait{}, wait, waited, post->by, complete.enter);
    out.add(EarlyWait{}, wait, waited, post->by, complete.enter);
  }

  std::vector<Cause> posts_;  // kept for its memory only
  // By the access epoch that was completed last; it lives until it is delivered.
  std::unordered_map<const earl::AccessEpoch*, std::vector<Unsettled>> unsettled_;
};

}  // namespace kojak::expert
