// Samples of what a thread computes outside of MPI (ELG_SAMPLE).
//
// Each thread that records has a timer of its own that runs while the thread uses a processor. Its
// signal notes where the thread is and what led there, unless we or the MPI library have control;
// the next record of the thread writes the samples first (make_room()). The signal is the one that
// the C library keeps for ending threads: a program can neither handle nor block nor wait for it,
// so nothing of its own is changed. A program that ends threads (pthread_cancel) takes it back;
// then there are no samples from there on, and that is said.
//
// The handler takes no memory and no lock, and blocks nothing: a handler of the program may
// interrupt it anywhere, and need not come back. What it notes lies in memory that outlives the
// process (sample_memory.h). It runs on the stack that the thread is on (sample_stacks.h says where
// there is no room), and follows it with the unwinder that call paths use, where the C library lets
// that look up code without a lock (glibc 2.35); elsewhere it notes the place alone. A sample
// stands for as many intervals as have passed; what does not fit between two records is thinned
// evenly. Timers end with their threads, with the session, with exec, and are not in the child of a
// fork. Only calls that no handler may interrupt (a sleep, poll) can end early, if the timer ends
// in the microsecond in which the thread goes to sleep there.
//
// Called by the owning thread; end_sampling() also by the one that ends the session. Nothing fails:
// what cannot be had is said once.
#pragma once

#include "epilog/runtime/local_trace.h"

namespace kojak::measure {

struct Sampler;

// Once, before the first trace is opened.
void prepare_sampling();
// The thread's trace has just been opened, and has room for a definition.
void start_sampling(Recorder& r);
// Before a record: what was noted since the last one.
void write_samples(Recorder& r);
// While the thread's recording begins, up to its first records, its samples are of the measurement
// itself: they are dropped, since what these records tell of began before them.
void drop_samples(bool begins);
// The trace is about to be closed.
void end_sampling(LocalTrace& trace);

// The calling thread's alternate stack is another one (sample_stacks.h).
void alternate_stack_changed();

}  // namespace kojak::measure
