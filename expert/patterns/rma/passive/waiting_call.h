// A call that may have waited for a lock or for another process's progress, until both are known.
//
// Plain data; kept in a pool, so that its lists keep their memory. Source: passive-target papers
// 2006 (locks) and 2012 (progress).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "epilog/format/shmem_functions.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/rma/passive/presence.h"
#include "expert/waits/intervals.h"

namespace kojak::expert {

// ("Shmem" is the other models, too.) What a call is to the progress of its targets. Those up to
// kShmemQuiet cannot end without them while operations are outstanding: they are evidence for or
// against progress without MPI calls. Nothing obliges a flush or an unlock to ask a target with
// nothing outstanding; some MPIs do: these are evidence of their own kind only. Those of locks are
// evidence of locks only.
enum class ProgressKind : std::uint8_t {
  kFlush,
  kUnlock,
  kGetWait,
  kComplete,
  kShmemGet,
  kShmemFetch,  // an atomic operation with a result
  kShmemQuiet,
  kIdleFlush,   // towards a target with nothing outstanding
  kIdleUnlock,  // the same
  kPassiveTransfer,
  kAccessTransfer,
  kLock,
  kFlushLocal,
  kShmemAtomic,
  kShmemPut,  // of ARMCI: shmem_put does not wait
  kShmemLock,
  kNobody,  // needs nobody
};
inline constexpr std::size_t kProgressKinds = static_cast<std::size_t>(ProgressKind::kNobody);
constexpr bool is_evidence(ProgressKind kind) {
  return kind <= ProgressKind::kIdleUnlock;
}
constexpr bool is_idle(ProgressKind kind) {
  return kind == ProgressKind::kIdleFlush || kind == ProgressKind::kIdleUnlock;
}
constexpr bool is_shmem(ProgressKind kind) {
  return kind == ProgressKind::kShmemGet || kind == ProgressKind::kShmemFetch ||
         kind == ProgressKind::kShmemQuiet || kind == ProgressKind::kShmemAtomic ||
         kind == ProgressKind::kShmemPut || kind == ProgressKind::kShmemLock;
}
// Symmetric memory is what windows are for MPI. Each model has one of its own.
constexpr WindowId symmetric_memory(PgasModel model) {
  return static_cast<WindowId>(kAbsent - static_cast<std::uint32_t>(model));
}
constexpr bool is_symmetric(WindowId window) {
  return kAbsent - raw(window) < kPgasModels;
}
constexpr PgasModel model_of_memory(WindowId window) {
  return static_cast<PgasModel>(kAbsent - raw(window));
}

// Where Lock Contention shows.
enum class LockSide : std::uint8_t { kTransfer, kSync, kShmem };
inline constexpr std::size_t kLockSides = 3;

// Which grants of locks need the target in MPI: bit 0 those to origins on its node, bit 1 those to
// others. The end of the trace tells.
inline constexpr unsigned kGrantRules = 4;

struct WaitingCall {
  // Whose progress it may need, for operations on which window, the last of them issued when. A
  // target may have served older operations while it was inside MPI.
  struct Needed {
    WindowId window{};
    ProcessId target{};
    Seconds issued;  // enter of the issuing call; with nothing outstanding: of the call itself
    ProgressKind kind{};
    std::uint32_t allocation = 0;  // of ARMCI: that all of them are about; 0: several, or unknown
  };
  // Another process held the lock then; if its grant needed the target, only while that can have
  // granted it.
  struct Held {
    WindowId window{};
    ProcessId target{};
    Interval when;
    Presence::Service service;
    bool same_node = false;      // holder and target
    LocationIndex location = 0;  // the call that released it
    CallPathIndex call_path = 0;
    Seconds release;
    std::uint64_t turn = 0;        // unique in the trace
    std::uint32_t lock = kAbsent;  // of SHMEM: its number

    // Takes in an earlier turn that led to this one without a gap, whose holder is then forgotten.
    bool joins(const Held& earlier) {
      if (may_need() || earlier.may_need() || earlier.when.end < when.begin) return false;
      when.begin = std::min(when.begin, earlier.when.begin);
      return true;
    }
    bool may_need() const { return when.begin < service.from && service.left < when.end; }
    // f(Interval) for the times that count under a rule.
    template <class F>
    void under(unsigned rule, F&& f) const {
      const bool needs = (rule & (same_node ? 1u : 2u)) != 0;
      if (!needs || !may_need()) return f(when);
      if (when.begin < service.left) f(Interval{when.begin, service.left});
      if (service.from < when.end) f(Interval{service.from, when.end});
    }
  };
  // A target outside MPI, at times when no other one on its side (same node, others) came back
  // later.
  struct Absent {
    Interval when;
    WindowId window{};
    ProgressKind kind{};
    bool same_node = false;
    ProcessId target{};
    EndedBy ended_by;  // the call with which it came back before this call ended
    std::uint64_t number = 0;
    std::uint32_t allocation = 0;
  };
  // Targets outside MPI: on the same node, on others. One call may have operations outstanding to
  // some targets and none to others: two kinds.
  struct Outside {
    WindowId window{};
    ProgressKind kind{};
    Intervals same, other;
    std::vector<Absent> absent;  // of those that came back last; all but in large groups
  };
  Call call;
  WindowId window{};  // the first, of a wait for operations on several
  ProgressKind kind = ProgressKind::kNobody;
  bool settled = false;                       // who was outside MPI is known
  bool contended = false;                     // it belongs to an epoch that may have waited
  bool dropped = false;                       // it takes part in nothing
  std::uint32_t refs = 0;                     // epochs that have not said for whom it waited
  std::uint32_t epoch = 0, epoch_serial = 0;  // passive target: one that it belongs to
  std::uint64_t ticket = 0;                   // of the times outside that must be remembered
  std::uint64_t turns = 0;                    // of the turns at locks that must be remembered
  std::vector<Needed> targets;
  Outside outside;                 // of `window` and one kind
  std::vector<Outside> elsewhere;  // of others
  Intervals taken;                 // time that Late Post and Early Transfer claim
  std::vector<Held> held;
  // Of Win_complete: the Win_wait and Win_test calls that waited for its end. They are known when
  // all exposure epochs of its access epoch have been told of.
  std::vector<Call> waiters;
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  std::uint32_t exposures = kUnknown, told = 0;  // of how many; of how many so far
};

}  // namespace kojak::expert
