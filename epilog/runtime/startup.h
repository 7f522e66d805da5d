// What happens once when the program starts its communication library, and once when it ends that,
// whichever library it is. Failures leave the session idle: the program runs on unrecorded.
#pragma once

#include "epilog/runtime/exchange.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct PlainCall;

// Before the library's own start: the clock.
void start_clock();
// Settings and program; `learn_world` tells rank and size.
bool begin_session(bool (*learn_world)());
// All processes together: clock of the node and offsets, directory and identity of the run, the
// group of all. A run that another one spawned has a directory of its own.
bool join_run(const Exchange& exchange, bool spawned);
// The trace begins with the call of `function` that `caller` made, which has returned; if it has
// not and goes on when recording has begun, it is `open`, and end_call() ends it. `note` may add
// what else stands at the beginning.
inline constexpr unsigned kNoFunction = ~0u;  // no such call
void begin_recording(unsigned function, Ticks returned, const void* caller, void (*note)(Recorder&),
                     PlainCall* open = nullptr);
// In a thread that is a process of the run by itself (process_apart), when another thread of this
// process has begun: its trace begins, too. False: it cannot.
bool begin_recording_apart();
// A call that made something live, and had no wrapper's records therefore.
void record_init(unsigned function, Ticks enter, Ticks exit, const void* caller);
// What the calibration over the whole run says, from the first process of a node.
void write_clock_rate(Recorder& r);
// Before the library's own end, all processes together: last offsets and calibration. Only once.
void begin_shutdown(Recorder& r);
// After it.
void finish_shutdown();

// The rank as launchers tell it before the library may be asked; 0 if none does.
bool is_first_by_environment();

}  // namespace kojak::measure
