// What a measured process asks of the one that keeps its buffers: one packet, and for what must be
// done before the process goes on, an errno as the answer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

struct KeeperRequest {
  enum Kind : std::uint32_t {
    kTake,      // a thread's buffer: its memory comes along; no answer
    kTakeMany,  // buffers of any threads, one behind the other; `thread` is the size of each
    kMake,      // the files of that thread
    kWrite,     // what the buffer holds, to the trace file
    kTell,      // a line for the run's file, which follows
  };
  std::uint32_t kind;
  std::uint32_t rank, thread;  // whose buffer: its file's name
};
inline constexpr std::size_t kMostTold = 4800;

}  // namespace kojak::measure
