// The chain: where the calls of MPI go that come to us.
//
// Other libraries may stand between the program and MPI: they define MPI_X themselves and call
// PMPI_X. For each function `next` is the definition of MPI_X that is next behind this library in
// the order of the dynamic linker, and `own` the MPI's own PMPI_X. Where nothing stands between,
// both are the same. What the program calls goes to `next`, recorded or not; what the measurement
// asks goes to `own` (namespace mpi in args.h), so that a library between does not see us.
//
// All of it is looked up at once, at the first call of MPI of any kind, and never again: an MPI may
// make itself global when it is initialised, and a lookup would find it in front of the others from
// then on. Threads may meet there; the first one that is ready puts its result in place. Nothing
// fails: a function that nobody has says so when it is called.
//
// The shared library has no MPI among its needs: programs without MPI (sh, timeout) load it, too.
// Its `own` is what the dynamic linker knows (chain_library.cc). The archive is linked into the
// program with its MPI, and the linker finds `own` (chain_archive.cc).
#pragma once

#include <atomic>

#include "epilog/mpi/slots.h"
#include "epilog/runtime/behind.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct Chain {
  void* next[kSlots];
  void* own[kSlots];
};
extern Chain the_chain;
extern std::atomic<bool> chain_is_there;

[[gnu::cold, gnu::noinline]] void make_chain();

// Before the first call is passed on. While the session is live the chain is there.
KOJAK_INLINED inline void need_chain() {
  if (!chain_is_there.load(std::memory_order_acquire)) [[unlikely]]
    make_chain();
}

// Where no MPI is known a shim may have opened one that only its own files see: what that calls by
// MPI's names is found for it. `caller` is the code that called us.
[[gnu::cold, gnu::noinline]] void find_next_for(unsigned slot, const void* caller);

// The MPI that does the work: the file that holds PMPI_Get_library_version, which every MPI since
// 3.0 has. PMPI_Init is no sign: libraries between define that, too.
struct TheMpi {
  enum class Kind {
    kNone,   // no such file, though somebody has MPI_Init: calls only pass
    kFound,  // whether it is the one that we were built for is told by its version
    kAbi,    // of the interface of MPI 5, whose handles are others
  };
  Kind kind = Kind::kNone;
  LoadedFile file;
  bool has_constants = false;  // those of mpi.h
  // Who stands between the program and it.
  unsigned between_count = 0;
  LoadedFile* between = nullptr;  // memory of ours, never given back
  // Code of one of them; or ours, since they may jump to us at the end of a function.
  bool is_between(const void* return_address) const;
};
extern TheMpi the_mpi;  // valid when the chain is there

// Before the call of a function is passed on unrecorded.
KOJAK_INLINED inline void need_next(unsigned slot, const void* caller) {
  need_chain();
  if (the_mpi.kind == TheMpi::Kind::kNone) [[unlikely]]
    find_next_for(slot, caller);
}

// What stands in a slot: MPI_Put.
const char* slot_name(unsigned slot);
// PMPI_X of MPI_X; the chain need not be there. Null if there is none.
void* find_own_alone(const char* name);

// Fills `own` and the constants.
void find_own(Chain& chain, TheMpi& mpi, Behind& behind);

}  // namespace kojak::measure
