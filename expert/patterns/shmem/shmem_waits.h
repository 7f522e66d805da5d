// SHMEM: waiting for others in calls that wait for a variable, in locks, and in the allocation of
// symmetric memory. Source: OpenSHMEM 1.5, 9.9 (waits), 9.11 (locks), 9.3 (memory); the patterns
// are kojak's own.
#pragma once

#include "earl/aspects/symmetric_memory.h"
#include "epilog/format/shmem_functions.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/rma/group_calls.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"
#include "expert/waits/intervals.h"

namespace kojak::expert {

struct ShmemLateNotification {
  static constexpr Metric kMetric{
      .name = "shmem_late_notification",
      .title = "Late Notification",
      .parent = "shmem_wait_until",
      .summary =
          "Time in waiting for a variable before the other process entered the call that wrote it.",
      .formula =
          "overlap(c, [c.enter, e]), e = enter of the last put or atomic operation to the variable "
          "before c ended; of several variables the latest e where c waits for all of them, the "
          "earliest where some are enough. Tests that end a series of polls which waited: c.enter "
          "is the first of these",
      .meaning =
          "The process that writes the variable is late. The rest of Wait Until is the time that "
          "the data needs to arrive: it was written, but not seen yet.",
      .advice =
          "Write earlier: right after the data are there, and before other work. Or let the "
          "process "
          "that waits compute first.",
      .timeline = "writer: shmem_put 5-6; pe 1: shmem_wait_until 1-7 ~1-5",
      .needs = Needs::kShmem};

  static Seconds severity(const Call& c, Seconds written) { return overlap(c, c.enter, written); }
  // The write that ended a wait for all variables, or for `some`; null: there was none to wait for.
  static const earl::SymmetricWrite* deciding(const earl::SymmetricWait& wait, bool some) {
    const earl::SymmetricWrite* decides = nullptr;
    for (const earl::AwaitedVariable& variable : wait.variables) {
      const earl::SymmetricWrite* write = variable.write;
      if (write == nullptr) {  // it was there before
        if (some) return nullptr;
        continue;
      }
      const bool later = decides != nullptr && decides->call.enter < write->call.enter;
      if (decides == nullptr || later != some) decides = write;
    }
    return decides;
  }
  // The call waited for something, and that has come. (A test waits that ends a series of them.)
  template <class Analysis>
  static const earl::SymmetricWrite* ended_by(const earl::SymmetricWait& wait, Analysis& out) {
    const Call& c = *wait.call;
    const ShmemRole role = out.shmem_role(c);
    const bool some = role == ShmemRole::kWaitUntilSome || role == ShmemRole::kWaitUntilAny ||
                      role == ShmemRole::kTestSome || role == ShmemRole::kTestAny;
    if (c.paused || !(waits_for_variable(role) || c.polled)) return nullptr;
    return deciding(wait, some);
  }
  template <class Analysis>
  static void on_symmetric_wait(const earl::SymmetricWait& wait, Analysis& out) {
    const earl::SymmetricWrite* const write = ended_by(wait, out);
    if (write == nullptr) return;
    const Call& c = *wait.call;
    out.add(ShmemLateNotification{}, c, severity(c, write->call.enter), enter_of(write->call));
  }
};

struct ShmemLockContention {
  static constexpr Metric kMetric{
      .name = "shmem_lock_contention",
      .title = "Lock Contention",
      .parent = "shmem_lock_completion",
      .summary = "Time in setting a lock while another process held it.",
      .formula =
          "c within the union over the holders H before it of [S, min(release of H, c.exit)]; "
          "S = latest of c.enter, the enter of H's set_lock, and the releases of those before H; "
          "without the times when H cannot have been granted its lock because the process that "
          "grants it was outside the library. shmem_test_lock that ends a series of polls which "
          "waited: c.enter is the first of these",
      .meaning =
          "All who set a lock queue for it. At each time the one who held it made the others wait. "
          "While a process that must grant the lock computes, nobody holds it: that time is Wait "
          "for Progress.",
      .advice =
          "Hold locks for a shorter time, use several for several data, or atomic operations in "
          "place of a lock.",
      .timeline = "pe 1: shmem_set_lock 2-7 ~2-6; holder: shmem_set_lock 0-1, shmem_clear_lock 5-6",
      .needs = Needs::kShmem,
      .sureness = Metric::Sureness::kLockOrder};

  // `waits` is a set: the times of all holders.
  static Seconds severity(const Call& c, const Intervals& waits) { return length_within(c, waits); }
};

struct ShmemAllocationWait : ShmemGroupWait<ShmemAllocationWait, TimeClass::kShmemMemory> {
  static constexpr Metric kMetric{
      .name = "shmem_memory_wait",
      .title = "Wait at Allocation",
      .parent = "shmem_memory_management",
      .summary =
          "Time in allocating or freeing symmetric memory before the last process did the same.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning = "Allocation is a barrier: processes that come early wait for the last one.",
      .advice = "Allocate once, outside loops, where all processes come at the same time.",
      .timeline = "pe 0: shmem_malloc 1-7 ~1-5; pe 1: shmem_malloc 5-7",
      .needs = Needs::kShmem,
      .for_the_last = true};
};

struct ShmemFinalizeWait {
  static constexpr Metric kMetric{
      .name = "shmem_finalize_wait",
      .title = "Wait at Finalize",
      .parent = "shmem_init_exit",
      .summary = "Time in shmem_finalize before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning = "Finalize is a barrier of all processes.",
      .advice = "Balance the work at the end of the program.",
      .timeline = "pe 0: shmem_finalize 1-7 ~1-5; pe 1: shmem_finalize 5-7",
      .needs = Needs::kShmem,
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (!out.is_shmem(view.instance(), TimeClass::kShmemInitExit, false)) return;
    if (out.shmem_role(view.members().front().call) != ShmemRole::kFinalize) return;
    add_group_waits<ShmemFinalizeWait>(view, out);
  }
};

struct ShmemTeamWait {
  static constexpr Metric kMetric{
      .name = "shmem_team_wait",
      .title = "Wait at Team Creation",
      .parent = "shmem_team_management",
      .summary = "Time in splitting or destroying a team before the last member did the same.",
      .formula =
          "overlap(c, [c.enter, L]), L = latest enter of the instance; 0 for an instance that some "
          "process left before L: it did not wait for all",
      .meaning =
          "All members of the parent team take part in a split, so those that come early wait for "
          "the last one. Destroying a team waits for its members in some libraries only.",
      .advice = "Make teams once, where all processes come at the same time anyway.",
      .timeline = "pe 0: shmem_team_split_strided 1-7 ~1-5; pe 1: shmem_team_split_strided 5-7",
      .needs = Needs::kShmem,
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (!out.is_shmem(view.instance(), TimeClass::kShmemTeam, false)) return;
    add_group_waits_if_synchronised<ShmemTeamWait>(view, Note::kTeamCallDidNotSynchronise, out);
  }
};

}  // namespace kojak::expert
