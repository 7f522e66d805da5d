// Whether the program's stacks have room for a sample.
//
// A signal needs room on the stack that the thread is on: the kernel's frame (3.4 KB with AVX-512)
// and about 3 KB for our handler, which has no stack of its own: the program could see that one,
// and its handlers would run there. So a thread with a small stack is not sampled at all, and one
// with a small alternate stack is not as long as it has that: within a handler there the kernel's
// second frame would end the program. To know that in time we stand before sigaltstack(), which
// does what it does without us; it is called from signal handlers, too: no lock, no memory.
//
// What cannot be known is a stack of the program's own making that a thread changes to (fibers),
// and an alternate stack that is set without the C library, up to the next sample.
#pragma once

#include <cstddef>

namespace kojak::measure {

// Once, before the first thread is sampled.
void prepare_sample_stacks();
// The calling thread's own stack has room.
bool own_stack_has_room();
// The calling thread has an alternate stack without room, in use or not.
bool alternate_stack_is_small();

// A stack's bytes from which on there are samples.
inline constexpr std::size_t kLeastOwnStack = 64 * 1024;
std::size_t least_alternate_stack();

}  // namespace kojak::measure
