// Waits for non-blocking and persistent collectives, at the call that found them complete.
//
// When all members have begun an operation, it is known for whom each of them waits: the rules
// are those of the blocking form, with the beginning of the operation in place of the enter. A
// blocking Wait, or a series of tests that waited, then counts under the metric of that form if all
// that it completed is of the form's class: of several operations Waitall waits for the last,
// Waitany and Waitsome for the first. Memory: operations that somebody still waits for x members.
// Source: MPI 3.1, 5.12.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "earl/aspects/collectives.h"
#include "epilog/format/mpi_roles.h"
#include "expert/metrics/time_class.h"
#include "expert/patterns/mpi/barrier_wait.h"
#include "expert/patterns/mpi/early_reduce.h"
#include "expert/patterns/mpi/early_scan.h"
#include "expert/patterns/mpi/late_broadcast.h"
#include "expert/patterns/mpi/neighbour_wait.h"
#include "expert/patterns/mpi/nxn_wait.h"
#include "expert/patterns/mpi/reduce_wait.h"
#include "expert/patterns/upc/split_barrier.h"
#include "expert/waits/collective_view.h"

namespace kojak::expert {

class BegunWaits {
 public:
  // `number` is that of the operation, which all waits for it have.
  void on_begun(const CollectiveView& view, std::uint64_t number) {
    const std::uint32_t slot = view.instance().slot;
    if (slot >= begun_.size()) begun_.resize(slot + 1);
    Begun& begun = begun_[slot];
    begun.number = number;
    begun.awaited.clear();
    for (const earl::CollectiveMember& m : view.members()) {
      Awaited& a = begun.awaited.emplace_back();
      if (const earl::CollectiveMember* late = view.awaited(m)) a.last = enter_of(late->call);
      if (&m == view.root() && view.first_contributor() != nullptr) {
        a.first = enter_of(view.first_contributor()->call);
      }
    }
  }

  template <class Out>
  void on_collective_wait(const earl::CollectiveWait& wait, Out& out) const {
    const earl::CompletedOperation* const c = deciding(wait);
    if (c == nullptr) return;
    const Operation current = out.operation();
    out.set_operation({.object = Operation::Object::kCommunicator,
                       .scattered = true,
                       .id = raw(c->operation->com),
                       .number = begun_[c->operation->slot].number});
    add_wait(*wait.call, *c, out);
    out.set_operation(current);
  }

 private:
  // The operation that decided how long the call waited; nullptr if none did.
  const earl::CompletedOperation* deciding(const earl::CollectiveWait& wait) const {
    const Call& call = *wait.call;
    if (call.paused || !earl::waits_for_begun(call)) return nullptr;
    const bool any = call.role() != MpiRole::kWaitall && call.role() != MpiRole::kTestall;
    const TimeClass time_class = class_of_completed(call.completed);
    const earl::CompletedOperation* found = nullptr;
    for (const earl::CompletedOperation& c : wait.completed) {
      const bool barrier = c.operation->role() == MpiRole::kBarrier;
      if (time_class != (barrier ? TimeClass::kBarrier : TimeClass::kCollective)) continue;
      // A member that waits for nobody could end at once.
      const bool earlier = found != nullptr && time_of(c) < time_of(*found);
      if (found == nullptr || earlier == any) found = &c;
    }
    return found != nullptr && of(*found).last.known() ? found : nullptr;
  }

  template <class Analysis>
  void add_wait(const Call& call, const earl::CompletedOperation& c, Analysis& out) const {
    const Awaited& by = of(c);
    switch (c.operation->role()) {
      case MpiRole::kBarrier:
        if (call.function == nullptr) return add<UpcSplitphaseWait>(call, by.last, out);
        return add<BarrierWait>(call, by.last, out);
      case MpiRole::kAllToAll:
        return add<NxnWait>(call, by.last, out);
      case MpiRole::kOneToAll:
        return add<LateBroadcast>(call, by.last, out);
      case MpiRole::kAllToOne:
        add<ReduceWait>(call, by.last, out);
        return add<EarlyReduce>(call, by.first, out);
      case MpiRole::kPrefix:
        return add<EarlyScan>(call, by.last, out);
      case MpiRole::kNeighbor:
        return add<NeighbourWait>(call, by.last, out);
      default:
        return;
    }
  }

  struct Awaited {
    EndedBy last;   // the last to begin of those that the member waits for, if any
    EndedBy first;  // the first, at the root of a reduce or gather
  };
  const Awaited& of(const earl::CompletedOperation& c) const {
    return begun_[c.operation->slot].awaited[c.member];
  }
  double time_of(const earl::CompletedOperation& c) const {
    const EndedBy& last = of(c).last;
    return last.known() ? last.time.value : -std::numeric_limits<double>::infinity();
  }
  template <class Pattern, class Analysis>
  static void add(const Call& call, const EndedBy& by, Analysis& out) {
    out.add(Pattern{}, call, Pattern::severity(call, by.time), by);
  }

  struct Begun {
    std::uint64_t number = 0;
    std::vector<Awaited> awaited;  // by member
  };
  std::vector<Begun> begun_;  // by slot
};

}  // namespace kojak::expert
