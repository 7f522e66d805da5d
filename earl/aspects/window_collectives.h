// State aspect: instances of window creation, fence and free (C^g<MPIWCExit>).
//
// Counted separately for each kind: the n-th fence on a window at one member is the n-th at all,
// whatever the assertions. Fence ordinals come from the latest WIN_STATE plus what follows.
// Memory: open instances x members that have left them. Not thread-safe; faults are counted.
// Source: docs/earl.md; docs/merge.md.
#pragma once

#include <cstdint>
#include <vector>

#include "earl/call.h"

namespace kojak::earl {

struct WindowMember {
  Call call;               // its assertion is in call.assertion
  std::uint32_t rank = 0;  // in the window's communicator
};

struct WindowInstance {
  WindowId window{};
  MpiRole role{};             // kWinCreate, kWinFence or kWinFree
  std::uint64_t ordinal = 0;  // of that role on that window
  bool complete = false;
  std::uint32_t size = 0;             // processes of the window
  std::vector<WindowMember> members;  // in order of their exits
};

}  // namespace kojak::earl
