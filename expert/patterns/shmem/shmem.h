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
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kShmem,
                                  .summary = "Time in SHMEM functions.",
                                  .meaning = "All time inside functions of the SHMEM library.",
                                  .needs = Needs::kShmem};
};

struct ShmemCommunication {
  static constexpr Metric kMetric{
      .name = "shmem_communication",
      .title = "Communication",
      .parent = "shmem",
      .kind = Metric::Kind::kSummand,
      .summary = "Time in SHMEM calls that move data.",
      .meaning = "Collective operations, and puts, gets and atomic operations.",
      .needs = Needs::kShmem};
};

struct ShmemCollective {
  static constexpr Metric kMetric{
      .name = "shmem_collective",
      .title = "Collective",
      .parent = "shmem_communication",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemCollective,
      .summary = "Time in collective communication: broadcasts, collects, reductions.",
      .meaning = "Collective calls of SHMEM, barriers apart.",
      .needs = Needs::kShmem};
};

struct ShmemLateBroadcast {
  static constexpr Metric kMetric{
      .name = "shmem_latebroadcast",
      .title = "Late Broadcast",
      .parent = "shmem_collective",
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
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemRma,
      .summary = "Time in puts, gets and atomic operations of SHMEM.",
      .meaning = "The calls that move data to and from other processes.",
      .needs = Needs::kShmem};
};

struct ShmemSynchronization {
  static constexpr Metric kMetric{
      .name = "shmem_synchronization",
      .title = "Synchronization",
      .parent = "shmem",
      .kind = Metric::Kind::kSummand,
      .summary = "Time in SHMEM calls that synchronise.",
      .meaning =
          "Barriers, waits, locks, fences, start and end, memory that all processes allocate "
          "together, and teams.",
      .needs = Needs::kShmem};
};

struct ShmemBarrier {
  static constexpr Metric kMetric{
      .name = "shmem_sync_collective",
      .title = "Barrier",
      .parent = "shmem_synchronization",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemBarrier,
      .summary = "Time in SHMEM barriers.",
      .meaning = "All time in shmem_barrier_all, shmem_barrier and shmem_sync.",
      .needs = Needs::kShmem};
};

struct ShmemBarrierWait : ShmemGroupWait<ShmemBarrierWait, TimeClass::kShmemBarrier> {
  static constexpr Metric kMetric{
      .name = "shmem_barrier_wait",
      .title = "Wait at Barrier",
      .parent = "shmem_sync_collective",
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
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemPairSync,
      .summary = "Time in synchronisation between single processes, and in fence and quiet.",
      .meaning = "Waiting for a value, locks, and the ordering of puts.",
      .needs = Needs::kShmem};
};

struct ShmemLock {
  static constexpr Metric kMetric{
      .name = "shmem_lock_completion",
      .title = "Lock Completion",
      .parent = "shmem_point2point_synchronization",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemLock,
      .summary = "Time in setting, testing and clearing locks.",
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
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemWait,
      .summary = "Time in waiting for a variable to change.",
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
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kShmemInitExit,
                                  .summary = "Time in start and end of SHMEM.",
                                  .meaning = "Start-up and shut-down of the library.",
                                  .needs = Needs::kShmem};
};

struct ShmemMemory {
  static constexpr Metric kMetric{
      .name = "shmem_memory_management",
      .title = "Memory Management",
      .parent = "shmem_synchronization",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemMemory,
      .summary = "Time in allocating and freeing symmetric memory.",
      .meaning = "All processes allocate together, and each such call ends with a barrier.",
      .advice = "Allocate once, outside loops.",
      .needs = Needs::kShmem};
};

struct ShmemTeams {
  static constexpr Metric kMetric{
      .name = "shmem_team_management",
      .title = "Team Management",
      .parent = "shmem_synchronization",
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kShmemTeam,
      .summary = "Time in splitting and destroying teams.",
      .meaning = "All members of the parent team make a new one together, and end one together.",
      .advice = "Make teams once, outside loops.",
      .needs = Needs::kShmem};
};

}  // namespace kojak::expert
