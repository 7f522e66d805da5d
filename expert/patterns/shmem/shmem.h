// SHMEM: the classes of its time, and waiting in its collective calls. Source: EXPERT patterns
// 2006, SHMEM.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/patterns/rma/group_calls.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct Shmem {
  static constexpr Metric kMetric{.name = "shmem",
                                  .title = "SHMEM",
                                  .parent = "execution",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kShmem,
                                  .summary = "Time in SHMEM functions.",
                                  .formula = "",
                                  .meaning = "All time inside functions of the SHMEM library.",
                                  .advice = "",
                                  .needs = Needs::kShmem};
};

struct ShmemCommunication {
  static constexpr Metric kMetric{
      .name = "shmem_communication",
      .title = "Communication",
      .parent = "shmem",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in SHMEM calls that move data.",
      .formula = "",
      .meaning = "Collective operations, and puts, gets and atomic operations.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemCollective {
  static constexpr Metric kMetric{
      .name = "shmem_collective",
      .title = "Collective",
      .parent = "shmem_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemCollective,
      .summary = "Time in collective communication: broadcasts, collects, reductions.",
      .formula = "",
      .meaning = "Collective calls of SHMEM, barriers apart.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemLateBroadcast {
  static constexpr Metric kMetric{
      .name = "shmem_latebroadcast",
      .title = "Late Broadcast",
      .parent = "shmem_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a broadcast before its root entered it.",
      .formula = "overlap(c, [c.enter, root.enter])",
      .meaning = "The root is late; nobody can have its data before it comes.",
      .advice = "Let the root do less before the broadcast, or broadcast later.",
      .timeline = "root: shmem_broadcast 5-7; pe 1: shmem_broadcast 1-7 ~1-5",
      .needs = Needs::kShmem};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return overlap(c, c.enter, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (!out.is_shmem(view.instance(), TimeClass::kShmemCollective, true)) return;
    const earl::CollectiveMember* root = view.root();
    if (root == nullptr) return;
    for (const earl::CollectiveMember& m : view.members()) {
      if (&m == root) continue;
      out.add(ShmemLateBroadcast{}, m.call, severity(m.call, root->call.enter),
              enter_of(root->call));
    }
  }
};

struct ShmemNxnWait : ShmemGroupWait<ShmemNxnWait, TimeClass::kShmemCollective> {
  static constexpr Metric kMetric{
      .name = "shmem_wait_nxn",
      .title = "Wait at N x N",
      .parent = "shmem_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a collect or reduction before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "Everybody needs data from everybody; processes that come early wait for the "
          "last.",
      .advice = "Balance the work before the call.",
      .timeline = "pe 0: shmem_collect 1-7 ~1-5; pe 1: shmem_collect 5-7",
      .needs = Needs::kShmem,
      .for_the_last = true};
};

struct ShmemRma {
  static constexpr Metric kMetric{
      .name = "shmem_rma_communication",
      .title = "One-sided",
      .parent = "shmem_communication",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemRma,
      .summary = "Time in puts, gets and atomic operations of SHMEM.",
      .formula = "",
      .meaning = "The calls that move data to and from other processes.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemSynchronization {
  static constexpr Metric kMetric{
      .name = "shmem_synchronization",
      .title = "Synchronization",
      .parent = "shmem",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in SHMEM calls that synchronise.",
      .formula = "",
      .meaning =
          "Barriers, waits, locks, fences, start and end, and memory that all processes "
          "allocate together.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemBarrier {
  static constexpr Metric kMetric{
      .name = "shmem_sync_collective",
      .title = "Barrier",
      .parent = "shmem_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemBarrier,
      .summary = "Time in SHMEM barriers.",
      .formula = "",
      .meaning = "All time in shmem_barrier_all, shmem_barrier and shmem_sync.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemBarrierWait : ShmemGroupWait<ShmemBarrierWait, TimeClass::kShmemBarrier> {
  static constexpr Metric kMetric{
      .name = "shmem_barrier_wait",
      .title = "Wait at Barrier",
      .parent = "shmem_sync_collective",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in a barrier before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning = "Processes that reach the barrier early wait there for the last one.",
      .advice = "Balance the work before the barrier, or leave it out.",
      .timeline = "pe 0: shmem_barrier_all 1-7 ~1-5; pe 1: shmem_barrier_all 5-7",
      .needs = Needs::kShmem,
      .for_the_last = true};
};

struct ShmemPairSync {
  static constexpr Metric kMetric{
      .name = "shmem_point2point_synchronization",
      .title = "Point-to-point",
      .parent = "shmem_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemPairSync,
      .summary = "Time in synchronisation between single processes, and in fence and quiet.",
      .formula = "",
      .meaning = "Waiting for a value, locks, and the ordering of puts.",
      .advice = "",
      .needs = Needs::kShmem};
};

struct ShmemLock {
  static constexpr Metric kMetric{
      .name = "shmem_lock_completion",
      .title = "Lock Completion",
      .parent = "shmem_point2point_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemLock,
      .summary = "Time in setting, testing and clearing locks.",
      .formula = "",
      .meaning =
          "Mostly waiting for a lock that another process holds: Lock Contention. The rest is the "
          "work of the library, which needs several messages for each lock.",
      .advice = "Hold locks for a shorter time, or use several.",
      .needs = Needs::kShmem};
};

struct ShmemWait {
  static constexpr Metric kMetric{
      .name = "shmem_wait_until",
      .title = "Wait Until",
      .parent = "shmem_point2point_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemWait,
      .summary = "Time in waiting for a variable to change.",
      .formula = "",
      .meaning =
          "Another process has not yet written the value that this one waits for: Late "
          "Notification; or it has, and the data are on their way.",
      .advice = "Write earlier, or compute before waiting.",
      .needs = Needs::kShmem};
};

struct ShmemInitExit {
  static constexpr Metric kMetric{.name = "shmem_init_exit",
                                  .title = "Init/Exit",
                                  .parent = "shmem_synchronization",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kShmemInitExit,
                                  .summary = "Time in start and end of SHMEM.",
                                  .formula = "",
                                  .meaning = "Start-up and shut-down of the library.",
                                  .advice = "",
                                  .needs = Needs::kShmem};
};

struct ShmemMemory {
  static constexpr Metric kMetric{
      .name = "shmem_memory_management",
      .title = "Memory Management",
      .parent = "shmem_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemMemory,
      .summary = "Time in allocating and freeing symmetric memory.",
      .formula = "",
      .meaning = "All processes allocate together, and each such call ends with a barrier.",
      .advice = "Allocate once, outside loops.",
      .needs = Needs::kShmem};
};

}  // namespace kojak::expert
