// Buffers of threads that have recorded little, and the file that they share.
//
// A thread may make one call and end. So it begins with a small buffer, one of many that the keeper
// got together, and has no files of its own; what it recorded, which is a trace by itself, comes
// behind that of others when it ends (LOCAL_PART), into a buffer and a file that are as those of
// any trace and have the name of the first of them. A thread that records more moves to a larger
// buffer, and at last to one with files of its own. A small buffer is used again when its thread
// has moved or ended; if the process dies, the keeper makes files for those in use.
//
// Owned by the session. Thread-safe: a thread may ask in the middle of a call, with whatever lock.
#pragma once

#include <cstddef>

#include "epilog/runtime/keeper.h"

namespace kojak::measure {

// The smallest that holds so many bytes, or the next one up from a size; 0: none is so large.
std::size_t small_buffer_size(std::size_t bytes);
// Memory whose header is zeroed; null data: there is none.
BufferMemory take_small_buffer(std::size_t size);
void give_back_small_buffer(std::byte* buffer, std::size_t size);
// All of them go. None is in use.
void drop_small_buffers();

}  // namespace kojak::measure
