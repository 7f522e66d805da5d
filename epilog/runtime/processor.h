// Whether the threads that we record have had a processor (PROCESSOR): time that they ran, time
// that they were ready to run and had to wait for one, and how often one was taken from them.
//
// The kernel counts all that for each thread; reading it takes some microseconds, so that is done
// at calls that may wait, when they begin and when they have returned, and at the begin and end of
// regions of the program and of OpenMP, 0.1 s after the last time at the earliest. A longer stretch
// of computing, or a longer wait, has its own numbers therefore. Nothing fails: where the kernel
// does not tell (RUN_PROPERTY processor.unknown says so) nothing is recorded.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// Writes that of this thread, at a time not before its newest record; decides when the next is due.
// Left out where the buffer has no more room than a call needs. errno stays.
[[gnu::cold, gnu::noinline]] void note_processor(Recorder& r, Ticks at);

// Before recording begins, when the clock is set up.
void prepare_processor_notes();

// Which processors this process may use; why there is no PROCESSOR, if there is none.
void define_processors(Recorder& r);

}  // namespace kojak::measure
