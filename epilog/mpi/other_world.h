// Calls on a window whose target belongs to another MPI_COMM_WORLD: spawned, connected or accepted.
//
// Such a process has no rank in this trace. What the call did to it stands in MPI_OTHER_WORLD,
// apart from calls that are about all members; it takes part in no pattern.
#pragma once

#include "epilog/mpi/window.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

[[gnu::cold, gnu::noinline]] std::byte* put_other_world(const Recorder& r, std::byte* to,
                                                        Seconds time, std::uint32_t window,
                                                        std::uint32_t target, std::uint8_t kind,
                                                        std::uint64_t bytes, std::uint64_t got);

// The window is defined; `rank` is the target's in it; `kind` as the record has it.
KOJAK_INLINED inline void leave_other_world(Recording& call, const Window& window, int rank,
                                            std::uint8_t kind, std::uint64_t bytes = 0,
                                            std::uint64_t got = 0) {
  call.begin();
  call.p = put_other_world(call.r, call.p, call.exit, window.id, static_cast<std::uint32_t>(rank),
                           kind, bytes, got);
  call.leave();
}

}  // namespace kojak::measure
