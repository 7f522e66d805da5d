// State aspect: general active target synchronisation: access and exposure epochs, their pairs, and
// the transactions that they make.
//
// The n-th access epoch of o that names t on window w corresponds to the n-th exposure epoch of t
// on w that names o; ordinals come from the latest EPOCH_STATE plus what follows it. Only a true
// Win_test ends an exposure epoch. Empty groups count for nobody. An epoch lives until every
// transaction that it takes part in has been delivered. References handed out live until the
// handler returns. Memory: open transactions. Not thread-safe; faults are counted.
// Source: docs/earl.md; docs/merge.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/call.h"

namespace kojak::earl {

struct ExposureEpoch;

// One target of an access epoch.
struct AccessTarget {
  ProcessId target{};
  std::uint64_t ordinal = 0;  // of the origin's access epochs that name the target, from 0
  TargetTransfers transfers;  // of this epoch to this target
  const ExposureEpoch* exposure = nullptr;  // null: its Win_post has not been left yet, or never
                                            // will be (see AccessEpoch::complete)
};

// An access epoch of a process on a window; when complete, an access transaction.
struct AccessEpoch {
  ProcessId origin{};
  WindowId window{};
  CommId group = absent<CommId>();
  Call start;               // Win_start
  Call finish;              // Win_complete
  bool has_start = false;   // false: recording was off
  bool has_finish = false;  // false: still open, or not recorded
  bool complete = false;    // with all exposure epochs closed: the access transaction is whole
  bool paused = false;      // recording was off somewhere between start and complete
  bool over = false;        // its access transaction has been told of
  std::vector<AccessTarget> targets;  // in group order
};

// One origin of an exposure epoch.
struct ExposureOrigin {
  ProcessId origin{};
  std::uint64_t ordinal = 0;            // of the target's exposure epochs that name the origin
  const AccessEpoch* access = nullptr;  // null: its Win_start has not been left yet, or never
  std::uint32_t target_index = 0;       // access->targets[target_index] is this epoch's process
  // What the origin's epoch knows of its transfers to this target; access must not be null.
  const TargetTransfers& transfers() const { return access->targets[target_index].transfers; }
};

// An exposure epoch of a process on a window; when complete, an exposure transaction.
struct ExposureEpoch {
  ProcessId target{};
  WindowId window{};
  CommId group = absent<CommId>();
  Call post;    // Win_post
  Call finish;  // Win_wait, or the Win_test that returned true
  bool has_post = false;
  bool has_finish = false;
  bool complete = false;  // with all access epochs closed: the exposure transaction is whole
  bool paused = false;
  std::vector<ExposureOrigin> origins;  // in group order
};

}  // namespace kojak::earl
