// MPI_Init, MPI_Finalize, MPI_Session_init, MPI_Session_finalize and MPI_Pcontrol as C and Fortran
// share them.
//
// `go_on` or `pmpi_call` is the user's call as it goes on from here; its result is the wrapper's.
// `measured_call` is the same, recorded. Whichever call and language initialises first starts the
// recording. It ends with MPI_Finalize, or with the last session that is still open then; where
// MPI_Session_init started it, at the program's end.
#pragma once

#include "epilog/mpi/armci_calls.h"
#include "epilog/mpi/floor.h"
#include "epilog/mpi/hooks.h"
#include "epilog/mpi/sessions.h"
#include "epilog/mpi/startup.h"

namespace kojak::measure {

// Set while the library initialises and from when it ends: Fortran's function may be built on C's,
// and one of C's on the other.
inline bool starting = false;

// `between`: somebody stands between this call and PMPI_Init.
template <class F>
int initialise(unsigned function, const F& go_on, bool between, const void* caller) {
  if (starting || program_has_ended || (is_live() && !began_with_session())) return go_on();
  starting = true;
  if (is_live()) {
    const Ticks enter = ticks();
    const int result = go_on();
    if (result == MPI_SUCCESS) record_late_init(function, enter, ticks(), caller);
    starting = false;
    return result;
  }
  note_start();
  Start start{function, caller, between};
  start.prepared = prepare_startup() && can_begin();
  start_in_hand = &start;
  const int result = go_on();
  start_in_hand = nullptr;
  starting = false;
  if (result == MPI_SUCCESS) arrive(start);
  return result;
}

// The measurement ends inside the region, so that waiting for another process to come is time of
// MPI_Finalize.
template <class F, class G>
int finalise(const F& pmpi_call, const G& measured_call) {
  if (program_has_ended || !is_live()) return pmpi_call();
  program_has_ended = true;
  // A server that stays in MPI_Init to its end may end by this name.
  while (start_in_hand != nullptr && the_recorder.frame != nullptr) {
    drop_innermost(the_recorder, ticks());
  }
  leave_open_armci_call(the_recorder);
  if (open_sessions() != 0) keep_own_session();  // MPI_COMM_WORLD's group is gone then
  end_in_hand = true;
  const int result = measured_call();
  end_in_hand = false;
  // Somebody may put PMPI_Finalize off; then recording goes on until that.
  if (!is_past_end()) return result;
  const OwnFrame own(the_recorder);
  note_late_libraries(the_recorder);
  if (open_sessions() == 0 && !began_with_session()) finish_shutdown();
  return result;
}

template <class F, class G>
int initialise_session(const F& pmpi_call, const G& measured_call, const void* caller) {
  if (starting || (program_has_ended && !is_live())) return pmpi_call();
  starting = true;
  int result = MPI_SUCCESS;
  if (is_live()) {
    result = measured_call();
    if (result == MPI_SUCCESS) {
      note_session_opened();
      if (began_with_session()) keep_own_session();
    }
  } else {
    note_start();
    const bool ours = prepare_startup();
    result = pmpi_call();
    const OwnFrame own(the_recorder);
    if (result == MPI_SUCCESS && ours) start_from_session(args::SessionInit::kFunction, caller);
  }
  starting = false;
  return result;
}

template <class F, class G>
int finalise_session(const F& pmpi_call, const G& measured_call) {
  if (starting || !is_live() || open_sessions() == 0) return pmpi_call();
  starting = true;
  if (open_sessions() == 1) drop_own_session();
  const int result = measured_call();
  starting = false;
  if (result != MPI_SUCCESS) {
    if (began_with_session()) keep_own_session();
    return result;
  }
  note_session_closed();
  const OwnFrame own(the_recorder);
  if (open_sessions() == 0) note_late_libraries(the_recorder);
  if (open_sessions() == 0 && program_has_ended && !began_with_session()) finish_shutdown();
  return result;
}

// Within a call the program's functions may switch recording, too; the call itself is in the trace
// from its beginning to its end, or not at all.
inline void obey_pcontrol(int level, const void* caller) {
  Recorder& r = the_recorder;
  if (!is_live()) return;
  if (r.forwarded == args::Pcontrol::kFunction + 1) return;  // Fortran's side has
  CallFrame frame;
  begin_inner_frame(frame);
  frame.in_call = frame.sealed = false;
  frame.trace = CallFrame::Trace::kNothing;
  if (r.frame != nullptr && !left_behind(r, &frame, caller)) {
    if (!r.frame->in_call || !begin_within(r, 0, caller)) return;
    enter_open_calls(r);
  }
  r.frame = &frame;
  if (level == 0) pause_recording(r);
  if (level == 1) resume_recording(r);
  if (level == 2) flush_now(r);
  leave_frame(r, frame);
}

}  // namespace kojak::measure
