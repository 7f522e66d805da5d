// Communicators of this process: members, identity and counts.
//
// Found by handle; one that was never seen is defined on first use, with unknown identity. An
// object lives as long as its handle, a window or a request needs it. Callers hold the bookkeeping
// lock. Without memory functions give nullptr, and the call that asked goes unrecorded.
#pragma once

#include "epilog/mpi/group.h"
#include "epilog/mpi/handles.h"
#include "epilog/mpi/message_counts.h"
#include "epilog/mpi/mpi.h"
#include "epilog/runtime/comm_object.h"

namespace kojak::measure {

struct Comm : CommObject {
  std::uint32_t references = 1;
  Word key = 0;
  // Where it has a topology, its neighbours here, in the order of their blocks, as world ranks;
  // absent beyond an open border.
  Group* sources = nullptr;
  Group* destinations = nullptr;
  std::uint32_t my_rank = 0;
  std::uint64_t created = 0;        // creation calls on it, for the identity of what they make
  std::uint64_t created_below = 0;  // the same by libraries between the program and MPI
  bool early = false;               // its creation call is still in the hand of such a library
  std::uint64_t opened = 0;         // files
  std::uint64_t begun = 0;          // non-blocking ones, and calls that make persistent ones
  MessageCounts messages;
  HashMap<std::uint64_t> channels;  // partitioned messages made, by peer, tag and direction
  Comm* next = nullptr;             // of the live ones
  Comm* previous = nullptr;

  // World rank of a rank given to a communication call, kAbsent for another world's.
  std::uint32_t peer(int rank) const {
    const Group* g = remote != nullptr ? remote : group;
    return static_cast<std::uint32_t>(rank) < g->count ? g->ranks[rank] : kAbsent;
  }
};

// MPI_COMM_WORLD and MPI_COMM_SELF, as soon as they exist; the group of all processes is there.
// They are written about from then on (state.h).
void start_world_comms();
// Makes the world's communicators known in a session that another library than MPI began, if MPI
// runs.
void join_mpi();
// Asked at such a session's end: whether MPI is over, too, or never began.
bool mpi_is_over();
Comm* find_comm(MPI_Comm comm);  // known ones; nullptr else
Comm* comm_of(MPI_Comm comm);    // the handle must be valid
// Takes note of a new communicator; unknown identity if `known` is false.
Comm* adopt_comm(MPI_Comm comm, const Identity& identity);
// Before PMPI frees it: the handle may belong to another at once. The caller owns the reference.
Comm* forget_comm(MPI_Comm comm);
void remember_comm(Comm* comm, MPI_Comm handle);  // if freeing failed
void keep_comm(Comm* comm);
void drop_comm(Comm* comm);

// The identity of what a creation call makes.
Identity created_identity(const Identity& parent, unsigned function, std::uint64_t ordinal,
                          const Group* group, const Group* remote);
// How often this very key was used before, by calls that only some members of the parent make.
std::uint64_t next_ordinal_of(const Identity& key);

// Numbers the partitioned messages of a pair of processes and a tag: that is how they match.
std::uint64_t next_channel(Comm& comm, std::uint32_t peer, std::uint32_t tag, bool sends);
Comm* first_comm();

// The communicator used last by this thread, else what Look finds: comm_of() or find_comm().
extern std::atomic<std::uint64_t> comm_serial;  // changes when a handle's meaning does
template <Comm* (*Look)(MPI_Comm)>
KOJAK_INLINED inline Comm* remembered_comm(Recorder& r, MPI_Comm comm) {
  const std::uint64_t serial = comm_serial.load(std::memory_order_relaxed);
  if (r.comm_key == word(comm) && r.comm_serial == serial) [[likely]] {
    return static_cast<Comm*>(r.comm);
  }
  Comm* const found = Look(comm);
  if (found == nullptr) return nullptr;
  r.comm_key = word(comm);
  r.comm = found;
  r.comm_serial = comm_serial.load(std::memory_order_relaxed);
  return found;
}
KOJAK_INLINED inline Comm* cached_comm(Recorder& r, MPI_Comm comm) {
  return remembered_comm<comm_of>(r, comm);
}

}  // namespace kojak::measure
