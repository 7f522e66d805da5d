// Records that move the state of a window, in one shape for both passes.
//
// decode_sync() reads a record of a local trace in its own identifiers; apply_sync() makes the
// transition. Nothing here owns memory or fails: a record that is too short moves nothing (it is
// counted where records are counted). Source: docs/merge.md.
#pragma once

#include <span>

#include "epilog/format/epoch_moves.h"
#include "epilog/format/record/codec.h"
#include "merge/complete/epochs.h"
#include "merge/complete/transfer_ends.h"
#include "merge/define/definitions.h"

namespace kojak::merge {

struct Sync {
  EpochMove kind = EpochMove::kNone;
  std::uint32_t window = 0;
  std::uint32_t comm = kAbsent;    // start, post, complete, wait: the group
  std::uint32_t target = kAbsent;  // absent: all
  std::uint32_t rmaid = 0;
  std::uint64_t first = 0, second = 0;  // fences; accesses, exposures
  std::uint8_t open = 0;
  bool gets_only = false;   // flush_local
  bool exclusive = false;   // lock
  bool no_succeed = false;  // fence
  bool unknown_role = false;
};

// `role` of the region that the record leaves, `assertion` of the MPI_ASSERT before it. False if
// the record moves nothing.
bool decode_sync(const RawRecord& record, const Dialect& dialect, MpiRole role,
                 std::uint32_t assertion, Sync& sync);

// Resolves with the window as `names` (MergedNames) number it, and the group's members, by world
// rank: empty if unknown. False if nobody knows its window or its peer.
template <class Names>
bool resolve_sync(Sync& sync, Names&& names, std::uint32_t processes,
                  std::span<const std::uint32_t>& members) {
  sync.window = names.window(WindowId{sync.window});
  if (sync.window == kAbsent || (sync.target != kAbsent && sync.target >= processes)) return false;
  if (sync.comm != kAbsent) members = names.members(CommId{sync.comm});
  return true;
}

// A record of SHMEM that is about a context: an operation in it (the default one if it names none),
// or its completion.
struct ContextUse {
  bool quiet = false;
  std::uint32_t window = kAbsent;  // absent: all contexts of the process
  // Of a quiet: the target whose operations it completes, absent: all; and which of them.
  std::uint32_t target = kAbsent;
  bool puts = true, gets = true;
  bool whole() const { return target == kAbsent && puts && gets; }
};
bool decode_context(const RawRecord& record, const Dialect& dialect, ContextUse& use);
// `members` of the group, by world rank; empty if unknown. kRmaComplete only tells pass 1.
void apply_sync(WindowEpochs& window, const Sync& sync, std::span<const std::uint32_t> members,
                bool survey);

}  // namespace kojak::merge
