// Wait at Fence. Source: event model 2005 and EXPERT patterns 2006, fence.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "earl/aspects/window_collectives.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/notes.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

// Who entered a fence last, who left it first, and what its members said of it.
struct FenceEdges {
  const earl::WindowMember* last_in;
  const earl::WindowMember* first_out;
  bool assertions = false;
  bool noprecede = false;

  // Of a complete instance.
  explicit FenceEdges(const earl::WindowInstance& instance)
      : last_in(&instance.members.front()), first_out(last_in) {
    for (const earl::WindowMember& m : instance.members) {
      if (last_in->call.enter < m.call.enter) last_in = &m;
      if (m.call.exit < first_out->call.exit) first_out = &m;
      assertions = assertions || m.call.assertion != 0;
      noprecede = noprecede || m.call.noprecede();
    }
  }
  // Whether it kept its members until the last had come.
  static bool synchronised(Seconds earliest_exit, Seconds latest_enter, Seconds delta) {
    return !(earliest_exit + delta < latest_enter);
  }
  template <class Analysis>
  bool synchronised(const Analysis& out) const {
    return synchronised(first_out->call.exit, last_in->call.enter,
                        out.delta(first_out->call, last_in->call));
  }
};

struct FenceWait {
  static constexpr Metric kMetric{
      .name = "mpi_rma_fence_wait",
      .title = "Wait at Fence",
      .parent = "mpi_rma_fence",
      .summary = "Time in a fence before the last process entered it.",
      .formula =
          "overlap(c, [c.enter, L]), L = latest enter of the instance; with MPI_MODE_NOPRECEDE "
          "blocked(c, all enters); 0 if the fence did not synchronise",
      .meaning =
          "A fence that ends an epoch waits for all members of the window, since each may have "
          "accessed this process's memory. Early processes wait for the last. If a "
          "process leaves the fence before the last one enters it, the fence made nobody wait; "
          "then no waiting is counted.",
      .advice =
          "Balance the work between fences. Where only neighbours exchange data, use post, "
          "start, complete and wait with just those. Say MPI_MODE_NOPRECEDE on the first fence "
          "of a phase.",
      .timeline =
          "rank 0: MPI_Win_fence 1-6 ~1-5; rank 1: MPI_Win_fence 5-6; rank 2: "
          "MPI_Win_fence 3-6 ~3-5",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }
  // With MPI_MODE_NOPRECEDE the call may return before the others come.
  static Seconds severity_noprecede(const Call& c, std::span<const Cause> enters) {
    return blocked(c, enters);
  }

  template <class Analysis>
  void on_window_collective(const earl::WindowInstance& instance, Analysis& out) {
    if (instance.role != MpiRole::kWinFence) return;
    const FenceEdges edges(instance);
    if (!edges.assertions && !edges.synchronised(out)) {
      out.count(Note::kFenceDidNotSynchronise, edges.first_out->call);
      return;
    }
    const earl::WindowMember* const last_in = edges.last_in;
    const Seconds latest = last_in->call.enter;
    by_enter_.clear();
    for (const earl::WindowMember& m : instance.members) {
      if (m.call.noprecede()) {
        if (by_enter_.empty()) sort_by_enter(instance);
        const Cause cause = latest_before_end(m.call, out);
        out.add(FenceWait{}, m.call, severity_noprecede(m.call, {&cause, 1}), cause.by);
      } else {
        out.add(FenceWait{}, m.call, severity(m.call, latest), enter_of(last_in->call));
      }
    }
  }

 private:
  void sort_by_enter(const earl::WindowInstance& instance) {
    for (const earl::WindowMember& m : instance.members) {
      if (!std::isnan(m.call.enter.value)) by_enter_.push_back(&m.call);  // else there is no order
    }
    std::sort(by_enter_.begin(), by_enter_.end(),
              [](const Call* a, const Call* b) { return a->enter < b->enter; });
  }
  // Of all enters of the instance the one that decides blocked(c, all enters): the latest at or
  // before the exit, or any one that the clocks' error may have moved beyond it. Found by search,
  // so that a fence over many processes does not compare each with each.
  template <class Analysis>
  Cause latest_before_end(const Call& c, const Analysis& out) const {
    const auto later = std::upper_bound(by_enter_.begin(), by_enter_.end(), c.exit,
                                        [](Seconds t, const Call* m) { return t < m->enter; });
    const Seconds bound = c.exit + out.max_delta();
    for (auto it = later; it != by_enter_.end() && (*it)->enter <= bound; ++it) {
      const Seconds delta = out.delta(c, **it);
      if ((*it)->enter <= c.exit + delta) return {(*it)->enter, delta, enter_of(**it)};
    }
    // Its own if no other; not even that where a damaged trace leaves the call before it enters it.
    const Call& last = later == by_enter_.begin() ? c : **(later - 1);
    return {last.enter, Seconds{0}, enter_of(last)};
  }

  // Kept from instance to instance for its memory only.
  std::vector<const Call*> by_enter_;
};

}  // namespace kojak::expert
