// State aspect: collective instances of communicators (C^g<MPICExit>).
//
// The n-th operation on a communicator at one member is the n-th at all; ordinals come from the
// latest COLL_STATE of the process plus what follows it. Communicators of unknown identity are
// never paired. Memory: open instances x members that have left them. Not thread-safe; faults are
// counted. Source: EARL spec, "collective instances".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earl/call.h"

namespace kojak::earl {

struct CollectiveMember {
  Call call;
  std::uint32_t rank =
      0;  // in the communicator; intercommunicators: remote ranks follow local ones
  Bytes64 sent{}, recvd{};
};

struct CollectiveInstance {
  CommId com{};
  std::uint64_t ordinal = 0;              // on that communicator
  const MpiFunction* function = nullptr;  // of its first member to leave; null: not MPI
  RegionId region{};
  PeerId root = absent<PeerId>();  // world rank, absent if none
  bool complete = false;           // all members are here
  bool mixed = false;              // members called different operations: evaluate nothing
  bool intercommunicator = false;
  std::uint32_t size = 0;                 // processes that take part
  std::vector<CollectiveMember> members;  // in order of their exits

  MpiRole role() const { return function == nullptr ? MpiRole::kOther : function->role; }
};

// For the immediate hook: one process has left a collective, whatever becomes of the instance.
struct CollectiveExit {
  const Call* call;
  CommId com;
  PeerId root;
  Bytes64 sent, recvd;
};

}  // namespace kojak::earl
