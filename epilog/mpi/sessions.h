// MPI sessions: recording that begins at MPI_Session_init, without MPI_COMM_WORLD.
//
// MPI_Session_init is local, so nothing here communicates: the rank is that in mpi://WORLD, and the
// processes of a run find each other by small files in its directory (join_run). Clocks of several
// nodes are not compared then; the merge says so. Recording goes on until the program ends, because
// sessions may be opened again; files are closed at exit if all sessions are finalised by then.
// Failures leave the session idle: the program runs on unrecorded.
#pragma once

#include "epilog/mpi/mpi.h"
#include "epilog/runtime/clock.h"

namespace kojak::measure {

// After mpi::Session_init, where nothing is recorded yet: `function` is the one that was called.
void start_from_session(unsigned function, const void* caller);
// True if that is how recording began.
bool began_with_session();

// Sessions that the program has open.
void note_session_opened();
void note_session_closed();
unsigned open_sessions();

// A session of our own, whose mpi://WORLD gives ranks to all groups. It is open while the program
// may make groups without MPI_COMM_WORLD, and closed before the program's last one.
void keep_own_session();
void drop_own_session();

// MPI_Init after all: MPI_COMM_WORLD and MPI_COMM_SELF exist from now on.
void record_late_init(unsigned function, Ticks enter, Ticks exit, const void* caller);

}  // namespace kojak::measure
