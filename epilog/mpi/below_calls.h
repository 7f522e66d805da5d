// What PMPI_X does when a library between the program and MPI calls it for itself (below.h).
#pragma once

#include "epilog/mpi/call.h"
#include "epilog/mpi/hooks.h"

namespace kojak::measure {

// Makes a communicator, of which bookkeeping takes note as of one that the program makes.
template <class A, class F>
int make_below(A a, const F& go_on) {
  Recorder& r = the_recorder;
  const bool before = r.making_below;
  r.making_below = true;
  const int result = bookkept(a, [&](Hook<A>&) { return go_on(); });
  r.making_below = before;
  return result;
}

// The handle may belong to another communicator at once.
template <class F>
int free_below(MPI_Comm* comm, const F& go_on) {
  if (!is_live()) return go_on();
  args::CommFree a{comm};
  return bookkept(a, [&](Hook<args::CommFree>&) { return go_on(); });
}

}  // namespace kojak::measure
