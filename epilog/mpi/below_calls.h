// What PMPI_X does when a library between the program and MPI calls it for itself (below.h).
#pragma once

#include "epilog/mpi/call.h"
#include "epilog/mpi/hooks.h"

namespace kojak::measure {

// Makes a communicator, of which bookkeeping takes note as of one that the program makes.
template <class A, class F>
int make_below(A a, const F& go_on) {
  Recorder& r = the_recorder;
  Hook<A> hook;
  const bool before = r.making_below;
  r.making_below = true;
  run_before(hook, a);
  const int result = go_on();
  Silent silent;
  if constexpr (requires { hook.after(a, result, silent); }) {
    const BookkeepingLock lock;
    hook.after(a, result, silent);
  }
  r.making_below = before;
  return result;
}

// The handle may belong to another communicator at once.
template <class F>
int free_below(MPI_Comm* handle, const F& go_on) {
  if (!is_live() || handle == nullptr) return go_on();
  const MPI_Comm freed = *handle;
  Comm* comm = nullptr;
  {
    const BookkeepingLock lock;
    comm = forget_comm(freed);
  }
  const int result = go_on();
  if (comm == nullptr) return result;
  const BookkeepingLock lock;
  if (result == MPI_SUCCESS) {
    drop_comm(comm);
  } else {
    remember_comm(comm, freed);
  }
  return result;
}

}  // namespace kojak::measure
