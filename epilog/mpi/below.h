// What a library between the program and MPI makes of a call.
//
// It may pass another communicator on than the program named (an I/O server's clients in place of
// MPI_COMM_WORLD), another partner, or make several calls of one. What is recorded is what reached
// the MPI. So the shared library has PMPI_X, too, for each function that takes a communicator
// (below_entries of generate.py). These go straight on; while one of our MPI_X has called out to
// such a library, the last PMPI_X of the same function that the library made successfully within it
// is noted, and the hook gets that communicator, destination, source and root in place of the
// program's, for this call only; but a call with the program's own arguments comes before all
// others (a library may agree on an error code behind it). If there was none, the first of the same
// family counts (a library may make MPI_Ssend of MPI_Issend and MPI_Wait). A lasting meaning of the
// program's handle would be wrong: a library may do that for some functions only.
//
// Communicators that only the library makes are known by its own creation calls, which count apart
// from the program's. What PMPI_Comm_free gives back is forgotten, whoever calls it: handles are
// reused. PMPI_ calls of anybody else pass without effect.
#pragma once

#include "epilog/mpi/chain.h"
#include "epilog/mpi/handles.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

// The partner or root of a call that has none.
inline constexpr int kNoRank = -0x7fffffff;

struct BelowArguments {
  Word comm = 0;
  int to = kNoRank;    // destination or root
  int from = kNoRank;  // source
  bool operator==(const BelowArguments&) const = default;
};

// A call that is in hand of a library between; while it is, calls of PMPI_ by that are noted.
// Memory of ours: the caller's stack may be small, and a call may be left by a longjmp.
struct BelowNote {
  unsigned function;  // the form with int counts
  MpiFamily family;
  BelowNote* outer;
  const CallFrame* frame;  // that was the innermost when it began
  const void* here;        // where it began, on the stack
  BelowArguments asked;    // by the program
  enum { kNothing, kFamily, kFunction, kAsAsked } found;
  BelowArguments arguments;
};

// Without memory for a note the program's arguments stand.
[[gnu::cold, gnu::noinline]] void begin_below(unsigned function, MpiFamily family,
                                              BelowArguments asked);
// The call has returned. Its note if it is known what reached the MPI, to be given back; else null.
[[gnu::cold, gnu::noinline]] BelowNote* end_below(bool good);
[[gnu::cold, gnu::noinline]] void give_back(BelowNote* note);

// The call in hand that has reached the MPI with the program's own arguments; or null.
const BelowNote* passed_as_asked();

// PMPI_X has returned successfully to `caller`.
[[gnu::cold, gnu::noinline]] void note_below(unsigned function, MpiFamily family,
                                             const BelowArguments& arguments, const void* caller);
// Whether the call that `caller` made of PMPI_X is one of a library's own: not within the
// program's call of the same function.
bool is_own_call_below(unsigned function, const void* caller);

// The next PMPI_X behind us, which is looked up for `caller` if the chain has none: a library may
// have opened an MPI that nobody else sees.
extern std::atomic<void*> the_below[kSlots];
[[gnu::cold, gnu::noinline]] void* find_below(unsigned slot, const void* caller);
inline void* below(unsigned slot, const void* caller) {
  void* const known = the_below[slot].load(std::memory_order_acquire);
  return known != nullptr ? known : find_below(slot, caller);
}

}  // namespace kojak::measure
