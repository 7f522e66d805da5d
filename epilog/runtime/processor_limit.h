// What the control group of this process allows it of the processors, and how often it was stopped
// for having used that up: containers and batch systems limit so.
//
// The kernel counts a stopped thread as one that has no processor (PROCESSOR), so what stands here
// tells why. A group is shared by the processes of a job on a node; its counts are those of all of
// them. A limit may stand in any group above the own one: the tightest is taken. Versions 1 and 2
// of control groups are read where they are mounted as a rule, below /sys/fs/cgroup. Nothing fails:
// where nothing can be read, or nothing is limited, nothing is said.
#pragma once

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// RUN_PROPERTY processor.limit, where there is a limit.
void define_processor_limit(Recorder& r);
// processor.stopped: since then. There must be room for a call's records.
void define_processor_stops(Recorder& r);

}  // namespace kojak::measure
