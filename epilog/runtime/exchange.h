// What the processes of a run tell each other when recording begins and ends, by whichever library
// they have: MPI's and SHMEM's are in their folders. Every function but send and receive is called
// by all processes together; false: the library failed, and nothing is recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

struct Exchange {
  // `bytes` of each process, in the order of ranks, to all.
  bool (*gather)(const void* mine, std::size_t bytes, void* all);
  // From rank 0 to all.
  bool (*spread)(void* data, std::size_t bytes);
  // Before the first send and receive, and after the last, which may be in another call than that.
  bool (*open)();
  void (*close)();
  // Between two processes, one after the other. Null: there is only what all do together, and nodes
  // compare their clocks by that.
  void (*send)(double value, std::uint32_t to);
  double (*receive)(std::uint32_t from);
};

}  // namespace kojak::measure
