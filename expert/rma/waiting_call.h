// A call that may have waited for a lock or for another process's progress, until both are known.
//
// Plain data; kept in a pool, so that its lists keep their memory. Source: the pattern spec, "Lock
// Contention", "Wait for Progress".
#pragma once

#include <cstdint>
#include <vector>

#include "expert/rma/intervals.h"

namespace kojak::expert {

// What a call is to the progress of its targets. Those up to kComplete cannot end without them
// while operations are outstanding: they are evidence for or against progress without MPI calls.
enum class ProgressKind : std::uint8_t {
  kFlush,
  kUnlock,
  kGetWait,
  kComplete,
  kPassiveTransfer,
  kAccessTransfer,
  kLock,
  kNobody,  // needs nobody
};
inline constexpr std::size_t kProgressKinds = static_cast<std::size_t>(ProgressKind::kNobody);
constexpr bool is_evidence(ProgressKind kind) {
  return kind <= ProgressKind::kComplete;
}

struct WaitingCall {
  // Whose progress it may need, for operations on which window, the last of them issued when. A
  // target may have served older operations while it was inside MPI.
  struct Needed {
    WindowId window{};
    ProcessId target{};
    Seconds issued;  // enter of the issuing call
  };
  Call call;
  WindowId window{};  // the first, of a wait for operations on several
  ProgressKind kind = ProgressKind::kNobody;
  bool settled = false;                       // who was outside MPI is known
  bool contended = false;                     // `taken` is Lock Contention
  bool dropped = false;                       // it takes part in nothing
  std::uint32_t refs = 0;                     // epochs that have not said for whom it waited
  std::uint32_t epoch = 0, epoch_serial = 0;  // passive target: one that it belongs to
  std::uint64_t ticket = 0;                   // of the times that must be remembered
  std::vector<Needed> targets;
  Intervals outside_same, outside_other;  // targets outside MPI: on the same node, on others
  Intervals taken;                        // time that patterns listed before it claim
};

}  // namespace kojak::expert
