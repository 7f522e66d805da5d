// Active sets and teams as communicator objects, and contexts as numbers.
//
// An active set is known by its triple, so equal triples are one object at all members; a team has
// the identity of its parent and the ordinal of the call that made it. Callers hold the bookkeeping
// lock. Without memory: nullptr, and the call goes without its group.
#pragma once

#include "epilog/runtime/comm_object.h"
#include "epilog/shmem/handles.h"

namespace kojak::measure {

// `stride` is 2 to this power; all processes have start 0, stride 0 and the run's size.
CommObject* find_active_set(int start, int log_stride, int size);
CommObject* find_team(Team team);
// After the call that made it, for its members: of `parent` those from `start` on, each `stride`.
void adopt_team(Team team, CommObject* parent, int start, int stride, int size,
                std::uint64_t ordinal);
void forget_team(Team team);
// How many teams were made of a team before: equal at all its members.
std::uint64_t next_team_ordinal(CommObject* parent);
// This process's place in a group; kAbsent if it is no member.
std::uint32_t place_in(const CommObject& set);

// The number of a context; one that was never seen gets the next.
std::uint32_t context_number(Context ctx);
// Whose PEs are those of a team.
void adopt_context(Context ctx, CommObject* team);
void forget_context(Context ctx);
// World rank of a PE as a call on this context names it.
std::uint32_t peer_of(Context ctx, int pe);

// Where this process stands in the collective operations of each set (Session::write_shmem_state).
void write_set_states(Recorder& r, bool all);

}  // namespace kojak::measure
