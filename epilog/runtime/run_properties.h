// What a process says of itself at the start of its trace beside machine and node (RUN_PROPERTY):
// which MPI library runs, the command and when it began, and those variables of the environment
// that change what MPI does or what is recorded.
//
// A list of one's own needs no more than an entry in kVariables, or a call of define_property()
// where thread 0's trace begins. Nothing fails; texts longer than kMostText are cut.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

inline constexpr std::size_t kMostText = 240;

// Writes the record; its process is the trace's own.
void define_property(Recorder& r, const char* key, const char* value);
// A time as a whole number: the bits of what its record would hold, in seconds.
void define_time_property(Recorder& r, const char* key, Ticks time);
// All that this process knows.
void define_run_properties(Recorder& r);

}  // namespace kojak::measure
