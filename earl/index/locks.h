// State aspects of locks: window locks (holders and waiters of each window and target), thread
// locks (OpenMP and SHMEM: who holds them), and open thread teams; with lockptr and forkptr.
//
// Window locks: MPI lets a lock call return before the lock is held, so WIN_LOCK marks a request.
// At any event those hold the lock of a target that have proved so there (model/lock_proof.h), then
// those in order of their requests that conflict with no holder; the rest wait. In a trace merged
// with --locks granted the requests stand where the locks were granted, and that order is exact. A
// lock taken with MPI_MODE_NOCHECK conflicts with nobody. Locks belong to processes. Feed apply()
// every event in file order. Memory: locks that are held or waited for, with the targets that they
// were used for, and one number for each lock ever used. Source: docs/earl.md; docs/merge.md.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "earl/index/interval_column.h"
#include "earl/target_table.h"
#include "earl/trace.h"
#include "epilog/model/lock_proof.h"

namespace kojak::earl::sequence {

struct WindowLock {
  ProcessId process{};
  std::uint64_t lock = kNoEvent;  // number of the WIN_LOCK or WIN_LOCK_ALL
  ProcessId target{};             // absent: all, or one that the trace does not have
  bool all = false;               // WIN_LOCK_ALL
  bool exclusive = false;
  bool nocheck = false;
};

class WindowLocks {
 public:
  explicit WindowLocks(const Trace& trace) : trace_(&trace) {}
  void apply(const Event& e) {
    lockptr_ = kNoEvent;
    if (is_flow(e.type) || is_p2p(e.type)) [[likely]]
      return;
    if (is_rma_sync(e.type) || !locks_.empty() || e.type == EventType::kMpiAssert) change(e);
  }

  // Who holds or wants the part of a window at a target, in order of requests.
  std::vector<WindowLock> holders(WindowId window, ProcessId target) const;
  std::vector<WindowLock> waiters(WindowId window, ProcessId target) const;
  // The pointer of the latest event, if it is a lock or unlock of a window.
  std::uint64_t lockptr() const { return lockptr_; }

  // From lock to unlock, with what is known of the lock.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);
  // A lock that is there after an event, from its row; in order of their requests. What it has
  // issued and not proved is not told.
  void restore(const Event& lock, const IntervalColumn::Row& row, std::uint64_t pos);
  void restore_lockptr(std::uint64_t lockptr) { lockptr_ = lockptr; }

 private:
  // What an epoch does at one target, until it has proved its lock there.
  struct AtTarget {
    ProcessId target{};
    std::uint64_t proved = kNoEvent;  // the event that did
    model::LockOperations operations{};
    struct Run {  // of gets with successive numbers
      std::uint32_t first = 0, last = 0;
    };
    std::vector<Run> gets{};  // since the last flush
  };
  struct OpenLock : WindowLock {
    TargetTable<AtTarget> targets;  // those with operations
    bool proved_at(ProcessId at) const {
      const std::uint32_t i = targets.find(at);
      return i != kNone && targets[i].proved != kNoEvent;
    }
  };
  void log(const OpenLock& lock, std::uint64_t end);
  OpenLock made(const Event& e, ProcessId here, ProcessId target) const;
  void change(const Event& e);
  ProcessId process(std::uint32_t location) const;
  void lock(const Event& e, ProcessId here, ProcessId target);
  void unlock(const Event& e, ProcessId here, ProcessId target);
  void issue(const Event& e, ProcessId origin, ProcessId target, bool get);
  void flush(const Event& e, ProcessId origin, ProcessId target);
  void complete(const Event& e, ProcessId origin);
  std::vector<WindowLock> select(WindowId window, ProcessId target, bool holding) const;

  const Trace* trace_;
  IntervalColumn* log_ = nullptr;
  std::vector<std::byte> contents_;                                   // of the column's next row
  std::map<WindowId, std::vector<OpenLock>> locks_;                   // in order of their requests
  std::map<std::pair<WindowId, ProcessId>, std::uint64_t> last_;      // lock or unlock of each lock
  std::map<std::pair<WindowId, ProcessId>, std::uint32_t> asserted_;  // NOCHECK of the next lock
  std::uint64_t lockptr_ = kNoEvent;
};

// ALOCK and RLOCK, of OpenMP (known to one process) and SHMEM (to all).
class ThreadLocks {
 public:
  explicit ThreadLocks(const Trace& trace) : trace_(&trace) {}
  void apply(const Event& e) {
    lockptr_ = kNoEvent;
    if (is_sync(e.type)) [[unlikely]]
      change(e);
  }
  struct Held {
    std::uint64_t latest = kNoEvent;  // number of its latest ALOCK or RLOCK
    bool held = false;
    LocationId holder{};
  };
  // OpenMP locks of a process; SHMEM locks: an absent process. nullptr: never used.
  const Held* find(ProcessId process, LockId lock) const {
    const auto it = locks_.find({process, lock});
    return it == locks_.end() ? nullptr : &it->second;
  }
  std::uint64_t lockptr() const { return lockptr_; }
  // From one event of a lock to its next. What is there after an event can be applied as it was.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end) {
    for (const auto& [key, lock] : locks_) log_->add(lock.latest, end);
  }

 private:
  void change(const Event& e);
  const Trace* trace_;
  IntervalColumn* log_ = nullptr;
  std::map<std::pair<ProcessId, LockId>, Held> locks_;
  std::uint64_t lockptr_ = kNoEvent;
};

// Open teams: the FORKs of each location that have not been joined.
class ThreadTeams {
 public:
  explicit ThreadTeams(const Trace& trace) : trace_(&trace), teams_(trace.location_count()) {}
  void apply(const Event& e) {
    forkptr_ = kNoEvent;
    if (!is_team(e.type)) [[likely]]
      return;
    const std::uint32_t i = trace_->index(e.loc);
    if (i == kAbsent) return;
    if (is_fork(e.type)) {
      teams_[i].push_back(e.pos);
    } else if (!teams_[i].empty()) {
      forkptr_ = teams_[i].back();
      teams_[i].pop_back();
      if (log_ != nullptr) log_->add(forkptr_, e.pos);
    }
  }
  std::span<const std::uint64_t> open(std::uint32_t index) const { return teams_[index]; }
  std::uint64_t forkptr() const { return forkptr_; }
  // From FORK to JOIN. What is there after an event can be applied as it was.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end) {
    for (const std::vector<std::uint64_t>& team : teams_) {
      for (const std::uint64_t fork : team) log_->add(fork, end);
    }
  }

 private:
  const Trace* trace_;
  IntervalColumn* log_ = nullptr;
  std::vector<std::vector<std::uint64_t>> teams_;  // by location
  std::uint64_t forkptr_ = kNoEvent;
};

}  // namespace kojak::earl::sequence
