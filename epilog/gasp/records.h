// What an event of UPC's writes at its end, by its arguments (docs/format.md).
#pragma once

#include "epilog/gasp/thread.h"

namespace kojak::measure {

// Makes the thread's sets; false without memory.
bool make_upc_sets(GaspThread& thread);
// Of the calling thread.
void write_upc_state(Recorder& r, bool all);

// The event of this thread ends at `at`. `call` is its call in hand.
void record_event(GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments,
                  Ticks at);
// A lock was made there; it is the next argument. It is called by that.
void name_lock(GaspThread& thread, const GaspPlace& made, va_list& arguments);
// What the call in hand is about, while it lasts, by the arguments at its beginning.
void note_event(const GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments);
// A notify that was held; it is no part of a barrier.
void record_notify(GaspThread& thread);
void record_barrier(GaspThread& thread, PlainCall& call, Ticks at);
// The thread leaves the program with all others.
void record_exit(GaspThread& thread, PlainCall& call, Ticks at);
// The same for another thread of this process, which stands there while the process ends. False: it
// does not stand there.
bool record_exit_of(GaspThread& thread, Ticks at);

}  // namespace kojak::measure
