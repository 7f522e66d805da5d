// State aspect: collective instances of communicators (C^g<MPICExit>), of begun operations, and of
// calls that a group makes together.
//
// Blocking collectives are counted; begun operations (MPI_COLL_BEGIN) and group calls
// (MPI_GROUP_CALL: creation of communicators, MPI_Finalize, files) bring their number with them.
//
// The n-th operation on a communicator at one member is the n-th at all; ordinals come from the
// latest COLL_STATE of the process plus what follows it. Communicators of unknown identity are
// never paired. Memory: open instances x members that have left them. Not thread-safe; faults are
// counted. Source: docs/earl.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earl/call.h"
#include "epilog/format/mpi_roles.h"

namespace kojak::earl {

struct CollectiveMember {
  Call call;
  std::uint32_t rank =
      0;  // in the communicator; intercommunicators: remote ranks follow local ones
  Bytes64 sent{}, recvd{};
  std::uint8_t flags = 0;  // of UPC: how it synchronises (field_values.h)
  bool awaited = false;    // of a begun one: an MPI_Wait or its like found it complete
};

// For a non-blocking or persistent operation (`begun`) function is the blocking form, and the
// members' calls are those that began it: what is known of them is what an OpenCall has.
struct CollectiveInstance {
  CommId com{};
  std::uint64_t ordinal = 0;              // on that communicator
  const MpiFunction* function = nullptr;  // of its first member to leave; null: not MPI
  RegionId region{};
  PeerId root = absent<PeerId>();  // world rank, absent if none
  bool complete = false;           // all members are here
  bool mixed = false;              // members called different operations: evaluate nothing
  bool intercommunicator = false;
  bool begun = false;
  std::uint32_t slot = 0;  // of a begun one: a small number of its own as long as it is handed out
  std::uint32_t size = 0;  // processes that take part
  std::vector<CollectiveMember> members;  // in order of their exits

  MpiRole role() const { return function == nullptr ? MpiRole::kOther : function->role; }
};

// A call and the begun operations that it found complete: delivered once, when all of these have
// been begun by all of their members. Operations of which a member is missing are left out.
struct CompletedOperation {
  const CollectiveInstance* operation;
  std::uint32_t member;  // the caller's place in its members
};
struct CollectiveWait {
  const Call* call;
  std::span<const CompletedOperation> completed;
};

// Whether a call that found such operations complete has waited for them: MPI_Wait and its like, a
// series of polls, upc_wait.
inline bool waits_for_begun(const Call& call) {
  return call.function == nullptr || call.polled || is_wait(call.role());
}

// For the immediate hook: one process has left a collective, whatever becomes of the instance.
struct CollectiveExit {
  const Call* call;
  CommId com;
  PeerId root;
  Bytes64 sent, recvd;
  std::uint8_t flags = 0;
  std::uint32_t allocation = 0;  // number of the one that was made there; 0: none
};

}  // namespace kojak::earl
