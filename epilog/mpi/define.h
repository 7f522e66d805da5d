// Definitions of communicators, groups and windows in the file of the thread that first uses them
// there.
//
// Every thread's file is complete by itself. The checks are inline; what they lead to makes its own
// room, so it may be called wherever records of a call are written. Nothing is written again.
// False: recording stopped meanwhile.
#pragma once

#include "epilog/mpi/comm.h"
#include "epilog/mpi/window.h"

namespace kojak::measure {

bool define_comm(Recorder& r, Comm& comm);
bool define_window(Recorder& r, Window& window);
// What a Recording (runtime/call.h) defines objects by.
inline bool define_object(Recorder& r, Comm& comm) {
  return define_comm(r, comm);
}
inline bool define_object(Recorder& r, Window& window) {
  return define_window(r, window);
}

// The new name of an object, in a file that defines it already.
bool define_name(Recorder& r, Comm& comm);
bool define_name(Recorder& r, Window& window);

// The Cartesian topology of a new communicator, and where this process stands in it. None if it has
// too many dimensions for a record.
bool define_topology(Recorder& r, const Comm& comm, MPI_Comm handle);

}  // namespace kojak::measure
