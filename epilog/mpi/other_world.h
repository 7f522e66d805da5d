// Calls on a window whose target belongs to another MPI_COMM_WORLD: spawned, connected or accepted.
//
// Such a process has no rank in this trace. What the call did to it stands in MPI_OTHER_WORLD,
// apart from calls that are about all members; it takes part in no pattern.
#pragma once

#include "epilog/mpi/window.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

[[gnu::cold, gnu::noinline]] void put_other_world(Recording& call, Window& window, int rank,
                                                  std::uint8_t kind, std::uint64_t bytes,
                                                  std::uint64_t got);

// `rank` in the window; `kind` as the record has it.
KOJAK_INLINED inline void leave_other_world(Recording& call, Window& window, int rank,
                                            std::uint8_t kind, std::uint64_t bytes = 0,
                                            std::uint64_t got = 0) {
  call.apart([&](Recording& c) { put_other_world(c, window, rank, kind, bytes, got); });
}

}  // namespace kojak::measure
