// Which files hold the code that samples lie in, noted beside them (sample_memory.h): who has only
// that memory when the process has died cannot ask for them any more.
//
// Safe in a signal handler: the C library finds code without a lock (_dl_find_object, glibc 2.35).
// With an older one, and where there are more files than kMostModules, a place has its address
// alone.
#pragma once

#include "epilog/runtime/sample_memory.h"

namespace kojak::measure {

// Once, before the first sample.
void prepare_sampled_modules();
void note_sampled_module(SampleMemory& memory, std::uintptr_t address);

}  // namespace kojak::measure
