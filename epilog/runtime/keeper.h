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
// die with it.
//
// It also does what this process can no longer do: after chroot, setuid or with a limit on the size
// of files it makes and writes the files of a trace in this one's place. For that it has the run's
// folder open. This process keeps no descriptor of the folder: the program may close any number or
// put its own there, and one would lead out of a chroot. The keeper takes no names from this
// process but those that it was started with, before the program could give up rights.
//
// Nothing fails but the lack of memory. Starting is for one thread; all else is for any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

// Starts elg_keep. Null if it runs; otherwise why not.
const char* start_keeper();
unsigned keeper_process();  // 0: there is none

struct BufferMemory {
  std::byte* data;  // zeroed and there in full; null: there is none. Given back by munmap
  bool kept;        // beyond the death of this process
};
// Whose buffer it is, in the run. In one process there may be threads of several ranks.
struct BufferOwner {
  std::uint32_t rank, thread;
};
BufferMemory new_buffer(std::size_t size, BufferOwner owner);
// Several buffers of one size, each for whatever thread its header names.
BufferMemory new_buffers(std::size_t size, std::size_t each);

// What the keeper is asked to do for a thread whose buffer is kept: 0 or an errno, kNoKeeper where
// it cannot be reached.
inline constexpr int kNoKeeper = -1;
int keeper_makes_files(BufferOwner owner);
int keeper_writes_out(BufferOwner owner);
// A line for the run's file (run_file.h). False if that could not be done.
bool keeper_tells(const char* line, std::size_t length);

}  // namespace kojak::measure
