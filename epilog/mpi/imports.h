// Which MPI functions the program and its libraries import that nobody records.
//
// Looked up when recording begins and when it ends (libraries loaded in between): in the dynamic
// symbols of every loaded file but the MPI library's own and other profiling tools. A function is
// recorded if its name leads into this library. What does not, and any PMPI_ function that the
// program itself calls, becomes a property of the run, "unrecorded.<function>", with the name of
// the file that imports it. If the file has called it, as far as that can be known,
// "unrecorded_called.<function>" says so.
//
// Allocates nothing, communicates nothing; at most kMostUnrecorded functions are named, then their
// number.
#pragma once

#include <cstddef>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

inline constexpr std::size_t kMostUnrecorded = 64;

// Needs a recorder that records; writes RUN_PROPERTY records.
void note_unrecorded_functions(Recorder& r);

}  // namespace kojak::measure
