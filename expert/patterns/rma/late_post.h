// Late Post. Source: event model 2005, section on inefficiency patterns, where it ends with the
// first post; here with the last one that can have blocked.
#pragma once

#include <algorithm>
#include <vector>

#include "expert/patterns/rma/late_post_first.h"
#include "expert/patterns/rma/posts.h"

namespace kojak::expert {

struct LatePost {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latepost",
      .title = "Late Post",
      .parent = "mpi_rma_gat_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in MPI_Win_start or MPI_Win_complete before the targets had posted.",
      .formula =
          "blocked(c, enters of Win_post of the access transaction) for c in {Win_start, "
          "Win_complete}",
      .meaning =
          "The origin cannot access memory that its targets have not exposed. It waits in "
          "MPI_Win_start or MPI_Win_complete, as the implementation likes, for the last target "
          "of its group to call MPI_Win_post.",
      .advice =
          "Let targets post as early as they can, before they compute. Smaller groups wait for "
          "fewer targets.",
      .timeline =
          "origin: MPI_Win_start 1-7 ~1-6, Put 7-8; target 1: post 3-4; target 2: post "
          "6-7"};

  static Seconds severity(const Call& c, std::span<const Cause> posts) { return blocked(c, posts); }

  template <class Analysis>
  void on_access_transaction(const earl::AccessEpoch& epoch, Analysis& out) {
    if (epoch.paused) return;
    for (const Call* c : {&epoch.start, &epoch.finish}) {
      if (c == &epoch.start ? !epoch.has_start : !epoch.has_finish) continue;
      collect_posts(epoch, *c, out, posts_);
      if (posts_.empty()) continue;
      out.add(LatePost{}, *c, severity(*c, posts_), blocked_by(*c, posts_));
      const Cause first = *std::min_element(posts_.begin(), posts_.end(),
                                            [](Cause a, Cause b) { return a.time < b.time; });
      out.add(BeforeFirstPost{}, *c, BeforeFirstPost::severity(*c, first), first.by);
    }
  }

 private:
  // Kept from epoch to epoch for its memory only.
  std::vector<Cause> posts_;
};

}  // namespace kojak::expert
