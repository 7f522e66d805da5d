// What a forward pass keeps: all state aspects, and the tables that it looks things up in.
//
// Internal to earl/replay.h, which adds the sink. Refers to the trace, which must outlive it.
#pragma once

#include <map>
#include <vector>

#include "earl/aspects/call_tree.h"
#include "earl/aspects/collective_instances.h"
#include "earl/aspects/fences.h"
#include "earl/aspects/gats.h"
#include "earl/aspects/message_queue.h"
#include "earl/aspects/numbered_collectives.h"
#include "earl/aspects/partitioned.h"
#include "earl/aspects/passive.h"
#include "earl/aspects/polls.h"
#include "earl/aspects/region_stack.h"
#include "earl/aspects/symmetric_memory.h"
#include "earl/aspects/window_instances.h"
#include "earl/trace.h"

namespace kojak::earl::detail {

struct RegionInfo {
  const MpiFunction* function = nullptr;
  bool keeps_holes = false;
  bool known = false;  // a definition introduced it
  bool pausing = false;
  bool post = false;    // Win_post: others want to know who is inside
  bool awaits = false;  // may wait for a variable of SHMEM
};

// What happens at the exit of the call that an event lies in.
struct Action {
  enum class Kind : std::uint8_t {
    kTransfer,
    kLock,
    kUnlock,
    kLockAll,
    kUnlockAll,
    kFlush,
    kRequestComplete,
    kGroupCall,
    kProbe,
    kPartEnd,
    kQuiet,          // of SHMEM
    kSymmetricLock,  // likewise
    kSymmetricWait,  // likewise
  };
  Kind kind = Kind::kTransfer;
  bool flag = false;  // exclusive lock, local flush, lock of SHMEM acquired
  TransferSlot slot;  // of a transfer
  WindowId window{};  // of the others
  ProcessId target{};
  RmaId rmaid{};
  CommId com{};  // of group calls and probes
  Tag tag{};
  std::uint64_t key = 0, ordinal = 0;
  RequestId request{};  // of the end of a partitioned message
  LockId lock{};
  Quiet quiet;
  AwaitedVariable variable;
};

struct LocationState {          // a location
  std::vector<Action> actions;  // of its open calls, innermost last
  std::uint32_t pauses = 0;     // recordings switched off so far
  // The latest SHMEM_PLACE: the call that it lies in, its operation, and what it says.
  std::uint64_t placed_in = kNoEvent;
  RmaId placed = absent<RmaId>();
  SymmetricPlace symmetric;
  PolledSeries series;  // of polls, the latest one
};

struct ReplayCore {
  explicit ReplayCore(Trace& trace);

  // Absent if no definition introduced it.
  KOJAK_INLINED ProcessId process_of(PeerId peer) const {
    const std::uint32_t index = trace.index(static_cast<LocationId>(raw(peer)));
    return index != kAbsent ? stack.head(index).process : missing_process(peer);
  }
  ProcessId missing_process(PeerId peer) const;
  KOJAK_INLINED const RegionInfo* region(RegionId id) const {
    if (raw(id) < regions.size()) [[likely]]
      return &regions[raw(id)];
    return far_region(id);
  }
  const RegionInfo* far_region(RegionId id) const;
  void pause(std::uint32_t place);

  Trace& trace;
  std::vector<LocationState> places;
  std::vector<std::uint32_t> process_pauses;  // by process
  std::vector<RegionInfo> regions;            // by identifier
  std::map<RegionId, RegionInfo> far_regions;
  RegionInfo unknown_region;
  struct GetOrigin {
    RmaId rmaid = absent<RmaId>();
    std::uint32_t place = kAbsent;
    Seconds time{};
  };
  std::vector<GetOrigin> get_origin;  // by process: its latest GET_1TO
  struct Sampled {
    Seconds at;     // its latest sample
    Seconds acted;  // its latest event before that and those that it follows at once
  };
  std::map<std::uint32_t, Sampled> sampled;  // by location
  GroupTable groups;
  CallTree tree;
  RegionStack stack;
  MessageQueue messages;
  CollectiveInstances collectives;
  NumberedCollectives numbered;
  PartitionedMessages partitioned;
  WindowInstances windows;
  Gats gats;
  Fences fences;
  PassiveTarget passive;
  SymmetricWrites symmetric;
  std::vector<AwaitedVariable> variables;      // of the call that is left; kept for its memory only
  WindowId known_window = absent<WindowId>();  // that was found last
  Seconds now{-1e300};
  bool marked = false;  // an RMA_MARK belongs to the next transfer end
};

// Whether a SEND lies in a call that itself waits for the message.
bool blocking_send(MpiRole role);
// Whether a RECV's own call posted the receive.
bool posting_receive(MpiRole role);

}  // namespace kojak::earl::detail
