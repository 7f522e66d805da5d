// Whether the threads that we record have had a processor (PROCESSOR): time that they ran, time
// that they were ready to run and had to wait for one, and how often one was taken from them.
//
// The kernel counts all that for each thread; reading it takes some microseconds, so that is done
// once in a millisecond at most: when an event comes 1 ms after the last reading or later. So what
// a thread does between two events for 1 ms or more has a reading at its end, and one at most 1 ms
// before its begin. They are written where it ran for less than nine tenths of that
// (epilog/format/blocked.h); else one in 0.1 s is. The kernel's file is kept open, since opening it
// takes longer than all the rest; the program may close it or put a file of its own there, so it is
// looked at before each use. Nothing is written while a series of polls stands open. Nothing fails:
// where the kernel does not tell (RUN_PROPERTY processor.unknown says so) time without a processor
// is unknown.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// At an event, whose records are written (`at` is theirs) or follow; decides when the next reading
// is due. Before an event it is part of that, whose time stays: the thread may lose its processor
// in it, and others wait for the event then. What it writes is left out where the buffer has no
// more room than a call needs. errno stays.
[[gnu::cold, gnu::noinline]] void note_processor(Recorder& r, Ticks at);
// Samples follow, of before now: what is to be written before them.
void note_before_samples(Recorder& r);
// At the end of a trace whose thread this is: the last one.
void note_last(Recorder& r, Ticks at);
// What was read is of no more use: recording was off.
void forget_reading(LocalTrace& trace);
void close_readings(LocalTrace& trace);

// The thread has slept in a function of the C library, outside of calls.
inline void note_pause(Ticks begin) {
  the_recorder.slept += ticks() - begin;
}

// Nanoseconds that the calling thread had a processor for: exact, where the times of getrusage are
// those of the last tick.
bool read_thread_clock(std::uint64_t& ran);

// Before recording begins, when the clock is set up.
void prepare_processor_notes();

// Which processors this process may use; why there is no PROCESSOR, if there is none.
void define_processors(Recorder& r);

}  // namespace kojak::measure
