// Indirect Wait. Measured first where a put or MPI_Win_complete waits for another target; kojak's
// own.
#pragma once

#include <algorithm>
#include <vector>

#include "earl/aspects/gats_epochs.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct IndirectWait {
  static constexpr Metric kMetric{
      .name = "mpi_rma_indirectwait",
      .title = "Indirect Wait",
      .parent = "mpi_rma_earlywait",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary =
          "The part of Early Wait while the last origin's MPI_Win_complete itself waited for "
          "another target.",
      .formula =
          "overlap(w, blocked times of c), c = the Win_complete that was entered last, after its "
          "enter, by the Win_post of another target; and the times in which c waited for the "
          "progress of another target (Wait for Progress at c)",
      .meaning =
          "The origin that completed last could not end its epoch, because another target of it "
          "had not posted yet, or computed and made no progress. This target has all its data and "
          "waits nevertheless.",
      .advice =
          "Let all targets of an access epoch post early, or access the late one in an epoch of "
          "its own; let targets that compute call MPI now and then.",
      .timeline =
          "target 1: post 0-1, MPI_Win_wait 2-8 ~5-7; origin: start 1-2, Put 3-4, complete 5-8; "
          "target 2: post 7-8"};

  // Of a wait, and the Win_complete that was entered last, blocked until that post.
  static Seconds severity(const Call& wait, const Call& complete, Seconds post) {
    const Seconds end = std::min(post, complete.exit);
    Seconds begin = complete.enter, waited{};
    for (const Interval& hole : complete.holes.span()) {
      waited = waited + overlap(wait, begin, std::min(hole.begin, end));
      begin = std::max(begin, hole.end);
    }
    return waited + overlap(wait, begin, end);
  }

  // The posts of others that the epoch's Win_complete may have waited for. False if one of them may
  // still come.
  template <class Analysis>
  static bool collect_others(const earl::AccessEpoch& epoch, ProcessId target, const Analysis& out,
                             std::vector<Cause>& posts) {
    posts.clear();
    bool all = true;
    for (const earl::AccessTarget& t : epoch.targets) {
      if (t.target == target) continue;
      if (t.exposure == nullptr || !t.exposure->has_post) {
        all = false;
        continue;
      }
      const Call& post = t.exposure->post;
      posts.push_back({post.enter, out.delta(epoch.finish, post), enter_of(post)});
    }
    return all;
  }
};

}  // namespace kojak::expert
