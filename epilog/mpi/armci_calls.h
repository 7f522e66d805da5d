// What the part for MPI needs to know of calls of ARMCI, whose functions armci_calls.cc has for the
// front.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// The call of ARMCI that this thread is in, or null. What MPI does in it is its own work; but a
// process that serves the others ends by MPI_Finalize in the call that started it.
extern thread_local constinit const CallFrame* open_armci_call
    __attribute__((tls_model("initial-exec")));

// MPI_Finalize comes: the call of ARMCI that is open ends here, and so does what lies within the
// library as a whole.
void leave_open_armci_call(Recorder& r);

}  // namespace kojak::measure
