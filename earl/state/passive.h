// State aspect: passive target epochs; passive_epochs.h says what they are.
//
// Feed it the calls in order of their exits. Not thread-safe. Faults are counted.
#pragma once

#include <vector>

#include "earl/detail/target_table.h"
#include "earl/findings.h"
#include "earl/state/passive_epochs.h"

namespace kojak::earl {

class PassiveTarget {
 public:
  PassiveTarget(std::uint32_t processes, Findings& findings)
      : findings_(findings), open_(processes), segments_(processes) {}

  void lock(const Call& call, WindowId window, ProcessId target, bool exclusive);
  void lock_all(const Call& call, WindowId window);
  // The epoch that ends, or nullptr; valid until the next call.
  const PassiveEpoch* unlock(const Call& call, WindowId window, ProcessId target);
  const PassiveEpoch* unlock_all(const Call& call, WindowId window);
  // Flush of a target, or of all (absent); a local one proves as much: data had to come back.
  void flush(const Call& call, WindowId window, ProcessId target, bool local);
  // A Wait*/Test* has completed the request of a get.
  void complete_get(const Call& call, WindowId window);
  // EPOCH_STATE: what is open after a gap.
  void resume(ProcessId process, WindowId window, ProcessId peer, std::uint8_t open,
              std::uint64_t ops);
  void pause(ProcessId process) { ++segments_[raw(process)]; }
  void free(ProcessId process, WindowId window, std::uint64_t pos);

  bool any_open(ProcessId process) const { return !open_[raw(process)].empty(); }
  // The lock epoch that covers the target, if there is one; counts the operation.
  TransferSlot issue(ProcessId process, WindowId window, ProcessId target);
  void leave_transfer(const TransferSlot& slot, Seconds exit);
  bool mark(ProcessId origin, WindowId window, ProcessId target);
  // f(const PassiveEpoch&) for what is still open at the end; counts it.
  template <class F>
  void finish(F&& f) {
    for (auto& list : open_) {
      for (const std::uint32_t i : list) {
        findings_.add(Finding::kUnclosedEpoch, epochs_[i].lock.exit_pos, epochs_[i].lock.loc);
        f(close(i));
      }
      list.clear();
    }
  }

 private:
  struct Epoch : PassiveEpoch {
    detail::TargetTable<FenceTarget> set;
    std::uint64_t outstanding = 0;  // operations since the last flush that covers them all
    bool proved = false;
    std::uint32_t segment = 0;
  };
  std::uint32_t open(const Call* call, ProcessId process, WindowId window);
  std::uint32_t find(ProcessId process, WindowId window, ProcessId target, bool all) const;
  const PassiveEpoch* end(const Call& call, std::uint32_t epoch);
  const PassiveEpoch& close(std::uint32_t epoch);

  Findings& findings_;
  detail::Pool<Epoch> epochs_;
  std::vector<std::vector<std::uint32_t>> open_;  // by process
  std::vector<std::uint32_t> segments_;
  std::uint32_t delivered_ = detail::kNone;
};

}  // namespace kojak::earl
