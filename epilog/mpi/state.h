// Native records of where this process stands: in its epochs, collectives and messages.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// Written when recording is switched on again (all of it) and inside each flush (what has changed
// since). Takes the bookkeeping lock. Defines what it names.
void write_state(Recorder& r, bool all);

}  // namespace kojak::measure
