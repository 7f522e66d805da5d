// A passive target epoch as Lock Contention sees it, and a holder's turn at a lock.
//
// Values. The order of holders is model/lock_order.h's.
#pragma once

#include <utility>
#include <vector>

#include "earl/pool.h"
#include "earl/target_table.h"
#include "epilog/model/lock_order.h"
#include "epilog/model/lock_proof.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/rma/passive/presence.h"
#include "expert/waits/intervals.h"

namespace kojak::expert {

using model::kNever;

// What an epoch knows of one target.
struct LockTarget {
  ProcessId target{};
  model::LockOperations operations;
  Seconds proof_enter, proof = kNever;  // the call whose end first proves that the lock was held
  Presence::Service service;            // when the target can have granted the lock
  Seconds issued;                       // enter of the last call that issued an operation
  std::uint32_t flushes = 0;            // so far; each completed the gets before it
  model::LockOrder::Proof entry = model::LockOrder::kNoProof;
};

struct LockEpoch {
  ProcessId origin{};
  WindowId window{};
  ProcessId target{};  // absent: lock_all, a shared lock on every member
  bool exclusive = false;
  bool nocheck = false;
  bool standing = false;       // it began before the first event
  std::uint32_t serial = 0;    // tells uses of one entry apart
  std::uint32_t unplaced = 0;  // targets at which its place in the order is not known yet
  Seconds lock_enter, lock_exit;
  static constexpr model::OpenTimes::Ticket kNoTicket = ~model::OpenTimes::Ticket{0};
  model::OpenTimes::Ticket asked = kNoTicket;  // of the times since when a lock is open
  Seconds unlock_enter, unlock_exit;
  // The call that released the lock.
  LocationIndex location = 0;
  CallPathIndex call_path = 0;
  earl::TargetTable<LockTarget> targets;
  std::vector<std::uint32_t> calls;  // that may have waited in it

  bool all() const { return is_absent(target); }
  Seconds proof_at(ProcessId t) const {
    const std::uint32_t known = targets.find(t);
    return known == earl::kNone ? kNever : targets[known].proof;
  }
};

// The time in which a holder can have held the lock.
struct LockTurn {
  ProcessId origin{};
  Seconds asked;              // when it had asked, and those before it had released the lock
  Presence::Service service;  // if the target must be in MPI to grant it
  Seconds release;
  bool same_node = false;      // as the target
  LocationIndex location = 0;  // of the call that released it
  CallPathIndex call_path = 0;
  std::uint64_t number = 0;  // of the epoch, unique in the trace
};

}  // namespace kojak::expert
