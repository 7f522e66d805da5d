// MPI_Init, MPI_Finalize and MPI_Pcontrol as C and Fortran share them.
//
// `pmpi_call` is the user's call as it goes to the MPI library; its result is the wrapper's.
// Whichever language initialises first starts the session.
#pragma once

#include "epilog/mpi/hooks.h"
#include "epilog/mpi/startup.h"

namespace kojak::measure {

// Set while the library initialises and from when it ends: Fortran's function may be built on C's,
// and one of C's on the other.
inline bool starting = false, ending = false;

template <class F>
int initialise(unsigned function, const F& pmpi_call, const int* provided, const void* caller) {
  if (starting || is_live()) return pmpi_call();
  starting = true;
  const bool ours = prepare_startup();
  const int result = pmpi_call();
  starting = false;
  if (result == MPI_SUCCESS && ours)
    finish_startup(function, provided != nullptr ? *provided : MPI_THREAD_SINGLE, caller);
  return result;
}

// `measured_call` is the same, recorded; it ends the measurement (begin_shutdown) inside the
// region, so that waiting for another process to come is time of MPI_Finalize.
template <class F, class G>
int finalise(const F& pmpi_call, const G& measured_call) {
  if (ending || !is_live()) return pmpi_call();
  ending = true;
  const int result = measured_call();
  finish_shutdown();
  return result;
}

inline void obey_pcontrol(int level) {
  if (!is_live() || the_recorder.frame != nullptr) return;
  if (the_recorder.forwarded == args::Pcontrol::kFunction + 1) return;  // Fortran's side has
  if (level == 0) pause_recording(the_recorder);
  if (level == 1) resume_recording(the_recorder);
  if (level == 2) flush_now(the_recorder);
}

}  // namespace kojak::measure
