// Late Post, and Before First Post. Source: event model 2005, section on inefficiency patterns,
// where it ends with the first post; here with the last one that can have blocked.
#pragma once

#include <algorithm>
#include <vector>

#include "earl/aspects/gats_epochs.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

// The enters of the epoch's known posts, each with the clock error against the call `c`.
template <class Analysis>
void collect_posts(const earl::AccessEpoch& epoch, const Call& c, const Analysis& analysis,
                   std::vector<Cause>& posts) {
  posts.clear();
  for (const earl::AccessTarget& target : epoch.targets) {
    if (target.exposure == nullptr || !target.exposure->has_post) continue;
    const Call& post = target.exposure->post;
    posts.push_back({post.enter, analysis.delta(c, post), enter_of(post)});
  }
}

struct BeforeFirstPost {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latepost_first",
      .title = "Before First Post",
      .parent = "mpi_rma_latepost",
      .summary = "The part of Late Post before even the first target had posted.",
      .formula = "blocked(c, the earliest post's enter alone)",
      .meaning =
          "With several targets, how long the origin waited until the first of them exposed its "
          "window. The rest of Late Post is waiting for the other targets.",
      .advice =
          "If this is much smaller than Late Post, a single slow target holds the origin up: "
          "start separate epochs, or order the work so that all targets post at about the same "
          "time.",
      .timeline =
          "origin: MPI_Win_start 1-7 ~1-3, Put 7-8; target 1: post 3-4; target 2: post "
          "6-7"};

  static Seconds severity(const Call& c, Cause earliest_post) { return blocked(c, earliest_post); }
};

struct LatePost {
  static constexpr Metric kMetric{
      .name = "mpi_rma_latepost",
      .title = "Late Post",
      .parent = "mpi_rma_gat_synchronization",
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
