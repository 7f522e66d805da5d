// In which order the lock epochs on one target of one window held their locks, and when each was
// granted and released.
//
// An epoch proves that it holds its lock at `proof`: the exit of the first flush with an operation
// to the target outstanding, or of the call that completes a get, else the exit of its unlock. Of
// two conflicting epochs (of different origins, one of them exclusive) that overlap, one that
// begins its unlock only after the other's proof comes after it. Among what that leaves open, an
// epoch goes first that began its unlock before the other's lock call was left; else the one whose
// unlock ended first. Only wrong clocks lead into a circle; there the beginnings of the unlocks
// decide. An epoch is released at the end of its unlock, or when a later holder must have been
// granted the lock at the latest (at its proof, or at its own release), but not before its unlock
// began; and granted when all before it are released, but not before its lock was asked for, nor
// after its proof. So conflicting holders never overlap where the clocks allow it.
//
// Epochs come as they end, in the order of time; they are settled, and handed on, as soon as
// nothing that is still open can change them. Memory: epochs that overlap open ones, at most kMost:
// beyond that the older ones are settled as they are. Not thread-safe. Nothing fails. Source:
// specification of the merge, lock grants.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "epilog/format/types.h"

namespace kojak::merge {

// A record of a trace.
struct TracePlace {
  std::uint32_t trace = kAbsent;
  std::uint64_t position = 0;
};

struct LockEpoch {
  static constexpr std::uint64_t kNoRecord = ~std::uint64_t{0};
  std::uint32_t origin = 0;
  bool exclusive = false;
  double lock_enter = 0, lock_exit = 0, unlock_enter = 0, unlock_exit = 0;
  double proof = std::numeric_limits<double>::infinity();
  // The lock and unlock records, by their number among those of their traces.
  std::uint32_t lock_trace = kAbsent, unlock_trace = kAbsent;
  std::uint64_t lock_record = kNoRecord, unlock_record = kNoRecord;
  TracePlace proof_place, unlock_place;  // of the unlock's ENTER
};

class LockOrder {
 public:
  static constexpr std::size_t kMost = 2048;
  struct Settled {
    LockEpoch epoch;
    double grant = 0, release = 0;
  };
  struct Result {
    std::vector<Settled> settled;
    std::vector<std::pair<LockEpoch, LockEpoch>> followers;  // a holder, and who holds next
    std::uint64_t circular = 0;                              // epochs whose order goes in a circle
  };

  void open(double lock_enter) { open_.insert(lock_enter); }
  // Nothing will be known of the end of that epoch.
  void forget(double lock_enter) { open_.erase(open_.find(lock_enter)); }
  void close(const LockEpoch& epoch);
  bool worth_settling() const { return open_.empty() || entries_.size() >= next_; }
  // `calls`: the earliest beginning of a lock call that has not ended yet.
  void settle(double calls, Result& result);

 private:
  struct Entry {
    LockEpoch epoch;
    double grant = 0, release = 0;
    double latest = 0;  // that it was granted
    bool settled = false;
  };
  static bool rather(const LockEpoch& a, const LockEpoch& b);
  void sort(Result& result);

  std::multiset<double> open_;
  std::vector<Entry> entries_;  // settled ones first
  std::size_t next_ = 32;
};

}  // namespace kojak::merge
