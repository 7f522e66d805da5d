// Transfers (put, get) as they are issued, and what an epoch remembers of them per target.
//
// A transfer belongs to the epoch that its origin had open towards that target when it was issued
// (claiming_epoch() in epilog/model/window_standing.h). An epoch keeps one TargetTransfers for each
// target, however many transfers there are. Source: docs/merge.md; docs/earl.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "earl/aspects/symmetric_memory.h"
#include "earl/call.h"
#include "epilog/model/window_standing.h"

namespace kojak::earl {

using kojak::EpochKind;

// At its start record at the origin (PUT_1TS; GET_1TS, which follows GET_1TO).
struct Transfer {
  const OpenCall* call;  // the region instance of the origin that issued it
  std::uint64_t pos;
  Seconds time;
  ProcessId origin;
  ProcessId target;
  WindowId window;  // absent: SHMEM
  RmaId rmaid;
  Bytes64 bytes;
  bool get;
  EpochKind epoch;                        // kNone: no epoch is known that it could belong to
  const SymmetricPlace* place = nullptr;  // of SHMEM, if the trace tells
  Seconds requested{};                    // a get's GET_1TO, where there is one; else `time`
};

// Its end record, where the merge placed it: PUT_1TE at the target, GET_1TE at the origin.
struct TransferEnd {
  ProcessId origin;
  RmaId rmaid;
  Seconds time;
};

// Where a one-sided operation of a few bytes works: MPI_RMA_PLACE, which comes before it.
struct RmaPlace {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  const OpenCall* call;  // that issues it
  ProcessId target;
  WindowId window;
  RmaId rmaid;  // of a get-and-put that of the get; its put has the next one
  std::uint64_t first = kUnknown, bytes = 0;
  bool reads = false, writes = false, swap = false;

  bool known() const { return first != kUnknown; }
};

// Where the aspect of its epoch keeps a transfer, until the exit of the call that issued it.
struct TransferSlot {
  std::uint32_t epoch = kAbsent;  // absent: no such epoch is open
  std::uint32_t index = 0;        // of the target in it
  std::uint32_t serial = 0;       // fences: which epoch of the window
  EpochKind kind = EpochKind::kNone;
  bool get = false;  // of access epochs only
};

// What an epoch of an origin knows of its transfers to one target.
struct TargetTransfers {
  static constexpr Seconds kNever{-std::numeric_limits<double>::infinity()};
  std::uint64_t ops = 0;     // issued in the epoch; an atomic operation with a result counts two
  std::uint64_t marked = 0;  // of these, how many the merge could not place (RMA_MARK):
                             // they take part in no pattern
  std::uint64_t unrecorded = 0;  // of these, issued while recording was off (EPOCH_STATE)
  Seconds last_exit = kNever;    // latest exit of a transfer call to the target

  // Known of access epochs only. The merge marks all puts of an epoch to a target or none, and all
  // gets: what could not be placed is the end of an epoch. Only puts that were issued when the
  // target had ended its epoch already (wrong clocks) are marked apart from the others, and maybe
  // late.
  struct Kind {
    Seconds last_enter = kNever, last_exit = kNever;  // the latest of its calls
    void add(const Call& call) {
      last_enter = std::max(last_enter, call.enter);
      last_exit = std::max(last_exit, call.exit);
    }
  };
  Kind puts, gets, both;  // calls that issue puts, gets, or one of each; without those too late
  std::uint32_t late_from = kAbsent;  // from this operation on, puts came too late
  bool marked_puts = false, marked_gets = false;

  // The latest enter and exit of those that take part in patterns; kNever if there are none.
  Kind unmarked() const {
    Kind last;
    const auto take = [&](const Kind& kind) {
      last.last_enter = std::max(last.last_enter, kind.last_enter);
      last.last_exit = std::max(last.last_exit, kind.last_exit);
    };
    if (!marked_puts) take(puts);
    if (!marked_gets) take(gets);
    if (!marked_puts && !marked_gets) take(both);
    return last;
  }
};

}  // namespace kojak::earl
