// What an event of UPC's writes at its end, by its arguments (docs/format.md).
#pragma once

#include "epilog/gasp/thread.h"

namespace kojak::measure {

// All threads, as the collective operations have them, and as the phases of barriers.
bool make_upc_sets();
void write_upc_state(Recorder& r, bool all);

// The event of this thread ends at `at`. `call` is its call in hand.
void record_event(GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments,
                  Ticks at);
// What the call in hand is about, while it lasts, by the arguments at its beginning.
void note_event(GaspEvent event, PlainCall& call, va_list& arguments);
// A notify that was held; it is no part of a barrier.
void record_notify(GaspThread& thread);
void record_barrier(PlainCall& call, Ticks at);
// The thread leaves the program with all others.
void record_exit(PlainCall& call, Ticks at);

}  // namespace kojak::measure
