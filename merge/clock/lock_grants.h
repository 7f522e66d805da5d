// When each lock was granted and released: a pass of its own over all local traces, in the order of
// time, before the merge writes anything (`--locks granted`), and before the controlled logical
// clock (which needs to know who held a lock after whom).
//
// The result gives a time for each MPI_WIN_LOCK and MPI_WIN_UNLOCK record, in the spill file, by
// its number among those of its trace; none (NaN) where the record stays: epochs with
// MPI_MODE_NOCHECK, and those that were not recorded whole. An epoch of lock_all takes part for
// every target that it has operations to, but its own records stay. Memory: open epochs, and what
// model::LockOrder holds. Errors: the spill file's. Source: model/lock_order.h.
#pragma once

#include <memory>
#include <vector>

#include "epilog/model/lock_order.h"
#include "merge/clock/causal_pass.h"
#include "merge/complete/survey.h"
#include "merge/input/spill_array.h"

namespace kojak::merge {

class CorrectedClocks;

using LockTimes = SpillArray<double>;

struct LockGrants {
  std::vector<std::unique_ptr<LockTimes>> times;  // by trace; null: it has no locks
  std::vector<LockEdge> edges;                    // from each holder to the next
  std::uint64_t without_edge = 0;
  std::uint64_t epochs = 0;
  model::LockDecisions decisions;  // how the places of epochs with rivals were found
};

struct LockInputs {
  const std::vector<LocalTrace>& traces;
  const Survey& survey;
  FileCache& files;
  const std::vector<LinearClock>& clocks;
  const CorrectedClocks* corrected;  // beyond them, or null
  InputBuffers buffers;
  const std::function<void(std::uint64_t)>& progress;
};

Result<LockGrants> find_lock_grants(const LockInputs& in);

}  // namespace kojak::merge
