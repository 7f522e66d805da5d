// What happens once at MPI_Init and once at MPI_Finalize, collectively over MPI_COMM_WORLD.
//
// All processes of the world have the library, so these may communicate: at MPI_Init over
// MPI_COMM_WORLD, which nobody else can use yet, later on a private communicator. Whether they do
// depends on nothing that could differ between processes. Failures leave the session idle: the
// program runs on unrecorded.
#pragma once

#include "epilog/mpi/mpi.h"
#include "epilog/runtime/call.h"
#include "epilog/runtime/startup.h"

namespace kojak::measure {

// The program starts MPI, and this library sees it; it tells other copies of itself.
void note_start();
// The start came to another one.
bool another_copy_measures();
// PMPI_Init comes to us outside of MPI_Init: whether the measurement begins there. Says why not.
bool prepare_outside();
// Before PMPI_Init: the clock. False if the MPI library is not the one that we were built for.
bool prepare_startup();
// After it, all processes: run directory, clock of the node, offsets, first records. `function` is
// the one that was called, kNoFunction if none was. With `open` its region stays open.
void finish_startup(unsigned function, const void* caller, PlainCall* open);
// The last call is about to reach MPI: the measurement ends in it, when all functions of the
// program have run that MPI calls there (delete functions of MPI_COMM_SELF's attributes), so that
// their calls are recorded and waiting in them is theirs. Where that cannot be, it ends here.
void end_before_last_call(Recorder& r);
// After the last call: what was loaded since the start, and what of it was called. It takes
// milliseconds, which nobody must wait for: before the call, the others would.
void note_late_libraries(Recorder& r);
}  // namespace kojak::measure
