// UPC's collective operations. A call waits for those whose data it needs, by the operation; and,
// by its flags, for all: with UPC_IN_ALLSYNC, or with no flag of that side, nobody may begin before
// all have come. With UPC_IN_NOSYNC nobody is obliged to wait: what came after the call had ended
// did not hold it up.
// Source: UPC 1.3, 7.3.1; UPC paper 2002, its groups of patterns; the patterns are kojak's own.
#pragma once

#include <algorithm>
#include <array>

#include "expert/metrics/metric.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {
namespace detail {

// The last to enter of those whose data the call needs and that can have held it up.
template <class Analysis>
const earl::CollectiveMember* upc_supplier(const CollectiveView& view,
                                           const earl::CollectiveMember& m, const Analysis& out) {
  const auto in_time = [&](const earl::CollectiveMember& other) {
    return other.call.enter <= m.call.exit + out.delta(m.call, other.call);
  };
  const earl::CollectiveMember* const last = view.awaited(m);
  if (last == nullptr || !CollectiveView::no_sync(m) || in_time(*last)) return last;
  const earl::CollectiveMember* latest = nullptr;
  for (const earl::CollectiveMember& other : view.members()) {
    if (!view.supplies(other, m) || !in_time(other)) continue;
    if (latest == nullptr || latest->call.enter < other.call.enter) latest = &other;
  }
  return latest;
}

// What the patterns do whose calls wait for data by that rule.
template <class Pattern, MpiRole kRule>
struct UpcDataWait {
  static Seconds severity(const Call& c, Seconds supplied) { return overlap(c, c.enter, supplied); }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.upc() == nullptr || view.rule() != kRule) return;
    for (const earl::CollectiveMember& m : view.members()) {
      const earl::CollectiveMember* const by = upc_supplier(view, m, out);
      if (by == nullptr || by == &m) continue;
      out.add(Pattern{}, m.call, severity(m.call, by->call.enter), enter_of(by->call));
    }
  }
};

}  // namespace detail

struct UpcLateBroadcast : detail::UpcDataWait<UpcLateBroadcast, MpiRole::kOneToAll> {
  static constexpr Metric kMetric{
      .name = "upc_latebroadcast",
      .title = "Late Broadcast",
      .parent = "upc_collective",
      .summary = "Time in upc_all_broadcast or upc_all_scatter before the root entered it.",
      .formula =
          "overlap(c, [c.enter, root.enter]) for every thread but the root, to which the source "
          "belongs; with UPC_IN_NOSYNC 0 where the root came after c had ended",
      .meaning = "The data are the root's; nobody can have them before it comes.",
      .advice = "Let the root do less before the call, or call later.",
      .timeline = "root: upc_all_broadcast 5-7; thread 1: upc_all_broadcast 1-7 ~1-5",
      .needs = Needs::kUpc,
      .in_shmem = "shmem_latebroadcast"};
};

struct UpcReduceWait : detail::UpcDataWait<UpcReduceWait, MpiRole::kAllToOne> {
  static constexpr Metric kMetric{
      .name = "upc_reduce_wait",
      .title = "Wait at Reduce",
      .parent = "upc_collective",
      .summary =
          "Time of the root of upc_all_reduce or upc_all_gather before the last other thread "
          "entered it.",
      .formula =
          "overlap(root, [root.enter, latest enter of the others]); with UPC_IN_NOSYNC of those "
          "that entered before the root's call ended",
      .meaning =
          "The root, to which the destination belongs, needs data from every thread, so it cannot "
          "end before the last of them has come.",
      .advice = "Let the root do other work before the call; balance the work of the others.",
      .timeline =
          "root: upc_all_reduce 1-7 ~1-5; thread 1: upc_all_reduce 3-4; thread 2: upc_all_reduce "
          "5-6",
      .needs = Needs::kUpc};
};

struct UpcEarlyReduce {
  static constexpr Metric kMetric{
      .name = "upc_earlyreduce",
      .title = "Early Reduce",
      .parent = "upc_reduce_wait",
      .summary = "Time of the root of upc_all_reduce before any other thread entered it.",
      .formula = "overlap(root, [root.enter, earliest enter of the others])",
      .meaning =
          "The part of Wait at Reduce before even the first of the others came: for this time the "
          "root was earlier than everybody else.",
      .advice = "Let the root work longer before the call, or the others less.",
      .timeline =
          "root: upc_all_reduce 1-7 ~1-4; thread 1: upc_all_reduce 4-6; thread 2: upc_all_reduce "
          "5-6",
      .needs = Needs::kUpc};

  static Seconds severity(const Call& root, Seconds earliest_other) {
    return overlap(root, root.enter, earliest_other);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.upc() == nullptr || view.upc()->role != ShmemRole::kReduceToOne) return;
    const earl::CollectiveMember* const root = view.root();
    const earl::CollectiveMember* const first = view.first_contributor();
    if (root == nullptr || first == nullptr) return;
    if (detail::upc_supplier(view, *root, out) == nullptr) return;  // none held it up
    out.add(UpcEarlyReduce{}, root->call, severity(root->call, first->call.enter),
            enter_of(first->call));
  }
};

struct UpcEarlyScan : detail::UpcDataWait<UpcEarlyScan, MpiRole::kPrefix> {
  static constexpr Metric kMetric{
      .name = "upc_earlyscan",
      .title = "Early Prefix",
      .parent = "upc_collective",
      .summary = "Time in upc_all_prefix_reduce before the last of the lower threads entered it.",
      .formula =
          "overlap(c, [c.enter, latest enter among the threads below that of c]); with "
          "UPC_IN_NOSYNC of those that entered before c ended",
      .meaning = "Each thread needs what all lower threads contribute.",
      .advice = "Let lower threads reach the call first.",
      .timeline =
          "thread 0: upc_all_prefix_reduce 5-6; thread 1: upc_all_prefix_reduce 1-7 ~1-5; thread "
          "2: upc_all_prefix_reduce 3-7 ~3-5",
      .needs = Needs::kUpc};
};

struct UpcNxnWait : detail::UpcDataWait<UpcNxnWait, MpiRole::kAllToAll> {
  static constexpr Metric kMetric{
      .name = "upc_wait_nxn",
      .title = "Wait at N x N",
      .parent = "upc_collective",
      .summary =
          "Time in upc_all_gather_all, upc_all_exchange or upc_all_permute before the last thread "
          "entered it.",
      .formula =
          "overlap(c, [c.enter, L]), L = latest enter of the instance; with UPC_IN_NOSYNC of those "
          "that entered before c ended",
      .meaning =
          "Everybody needs data from everybody; threads that come early wait for the last. (Of "
          "upc_all_permute the trace does not tell who needs whose data.)",
      .advice = "Balance the work before the call.",
      .timeline = "thread 0: upc_all_exchange 1-7 ~1-5; thread 1: upc_all_exchange 5-7",
      .needs = Needs::kUpc,
      .in_shmem = "shmem_wait_nxn",
      .for_the_last = true};
};

struct UpcCollectiveWait {
  static constexpr Metric kMetric{
      .name = "upc_collective_wait",
      .title = "Wait at Collective",
      .parent = "upc_collective",
      .summary =
          "Time in a collective operation with UPC_IN_ALLSYNC before the last thread entered it, "
          "though the data that the call needs were there.",
      .formula =
          "overlap(c, [max(c.enter, S), L]), L = latest enter of the instance, S = latest enter "
          "of those whose data c needs; where it needs nobody's, [c.enter, L]",
      .meaning =
          "UPC_IN_ALLSYNC, which is also what no flag means, lets nobody begin before all have "
          "entered the call. That is a barrier; the operation itself would not need it.",
      .advice =
          "Use UPC_IN_MYSYNC where threads need only be sure of the data of those that have "
          "entered the call, and UPC_IN_NOSYNC where a barrier before has made sure of all.",
      .timeline =
          "thread 0: upc_all_broadcast 1-7 ~2-5; root: upc_all_broadcast 2-7 ~2-5; thread 2: "
          "upc_all_broadcast 5-7",
      .needs = Needs::kUpc,
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds supplied, Seconds latest_enter) {
    return overlap(c, std::max(c.enter, supplied), latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.upc() == nullptr) return;
    if (view.rule() == MpiRole::kOther || view.rule() == MpiRole::kAllToAll) return;
    const Call& last = view.last_in().call;
    for (const earl::CollectiveMember& m : view.members()) {
      if (!CollectiveView::all_in_sync(m)) continue;
      const earl::CollectiveMember* const by = view.awaited(m);
      const Seconds supplied = by == nullptr ? m.call.enter : by->call.enter;
      out.add(UpcCollectiveWait{}, m.call, severity(m.call, supplied, last.enter), enter_of(last),
              std::max(m.call.enter, supplied));
    }
  }
};

}  // namespace kojak::expert
