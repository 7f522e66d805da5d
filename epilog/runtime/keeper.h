// The memory of buffers, and the process beside this one that saves them when this one dies.
//
// A buffer must survive kill -9 and must never be the mapping of a file (local_buffer_header.h). So
// it is memory without a name, which cannot be made smaller, shared with a small program, elg_keep.
// That one is started once per process, in a way that the measured program cannot see: it is
// nobody's child that wait() could find and raises no SIGCHLD (a process in between, which never
// runs a program, takes it over and is waited for here by __WCLONE); it is in a session of its own,
// has every signal blocked and none of our descriptors. Nothing of this process is copied: parent
// and child share memory until the program is started, so no page of a large program, nor of one
// registered with a network card, is touched. This process keeps no descriptor either: it connects
// again for each buffer. Where it cannot be started, buffers are memory of this process alone, and
// die with it. Nothing fails but the lack of memory. Called under the session's list lock.
#pragma once

#include <cstddef>

namespace kojak::measure {

// Starts elg_keep. Null if it runs; otherwise why not.
const char* start_keeper();
unsigned keeper_process();  // 0: there is none

struct BufferMemory {
  std::byte* data;  // zeroed and there in full; null: there is none. Given back by munmap
  bool kept;        // beyond the death of this process
};
BufferMemory new_buffer(std::size_t size);

}  // namespace kojak::measure
