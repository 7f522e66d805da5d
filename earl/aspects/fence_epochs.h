// State aspect: fence epochs: what a process issued between two of its fences on a window.
//
// Memory: (process, window) pairs x targets used in the open epoch.
// Source: docs/earl.md; docs/patterns.
#pragma once

#include <cstdint>
#include <span>

#include "earl/aspects/transfers.h"
#include "earl/call.h"

namespace kojak::earl {

struct FenceTarget {
  ProcessId target{};
  TargetTransfers transfers;
};

// At the exit of a fence: the epoch that it closes.
struct FenceEpoch {
  const Call* call;  // the closing Win_fence
  WindowId window;
  std::uint64_t ordinal;  // of the closing fence at this process, from 0: 0 closes no epoch
  std::uint32_t size;     // processes of the window
  bool gap;               // recording was off somewhere in it: transfers may be missing
  std::span<const FenceTarget> targets;  // those that it issued transfers to, maybe itself
};

}  // namespace kojak::earl
