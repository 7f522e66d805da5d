// State aspect: fence epochs of each process and window; fence_epochs.h says what they are.
//
#pragma once

#include <algorithm>
#include <vector>

#include "earl/aspects/fence_epochs.h"
#include "earl/many_open.h"
#include "earl/target_table.h"

namespace kojak::earl {

class Fences {
 public:
  explicit Fences(std::uint32_t processes) : windows_(processes), segments_(processes) {}

  // A transfer that no lock and no access epoch claims.
  KOJAK_INLINED TransferSlot issue(ProcessId process, WindowId window, ProcessId target) {
    TransferSlot result;
    result.kind = EpochKind::kFence;
    result.epoch = place(process, window);
    Window& w = windows_[raw(process)][result.epoch];
    result.index = w.targets.get(target);
    result.serial = w.serial;
    ++w.targets[result.index].ops;
    return result;
  }
  KOJAK_INLINED void leave_transfer(ProcessId process, const TransferSlot& slot, Seconds exit) {
    if (slot.epoch >= windows_[raw(process)].size()) return;  // freed by another thread
    Window& w = windows_[raw(process)][slot.epoch];
    if (w.serial != slot.serial) return;
    Seconds& last = w.targets[slot.index].last_exit;
    last.value = std::max(last.value, exit.value);
  }
  // Fetches what issue() needs, in three steps.
  template <int kStep>
  KOJAK_INLINED void fetch(ProcessId process) const {
    if (raw(process) >= windows_.size()) return;
    const std::vector<Window>& list = windows_[raw(process)];
    if constexpr (kStep == 0) __builtin_prefetch(&list);
    if constexpr (kStep == 1) {
      if (list.empty()) return;
      __builtin_prefetch(&list.front());
      __builtin_prefetch(&list.front() + 1);
    }
    if constexpr (kStep == 2) {
      if (!list.empty()) list.front().targets.fetch_next();
    }
  }
  void mark(ProcessId origin, WindowId window, ProcessId target);

  // The exit of a fence. The epoch that it closes is valid until the next call.
  FenceEpoch fence(const Call& call, WindowId window, std::uint64_t ordinal, std::uint32_t size);
  void pause(ProcessId process) { ++segments_[raw(process)]; }
  void free(ProcessId process, WindowId window);

 private:
  // What of TargetTransfers a fence epoch has. Many processes with many targets each: every
  // transfer finds its own one somewhere else in memory.
  struct Target {
    ProcessId target{};
    std::uint64_t ops = 0, marked = 0;
    Seconds last_exit = TargetTransfers::kNever;
  };
  struct Window {
    WindowId id{};
    std::uint32_t serial = 0;
    std::uint32_t segment = 0;
    TargetTable<Target> targets;
  };
  // The process's entry of the window; made when new.
  KOJAK_INLINED std::uint32_t place(ProcessId process, WindowId window) {
    const std::vector<Window>& list = windows_[raw(process)];
    if (ManyOpen::knows(list.size())) [[unlikely]] {
      const std::uint32_t known = many_.find(key(process, window));
      return known != kNone ? known : add(process, window);
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].id == window) return i;
    }
    return add(process, window);
  }
  static ManyOpen::Key key(ProcessId process, WindowId window) {
    return {raw(process), raw(window)};
  }
  std::uint32_t add(ProcessId process, WindowId window);

  std::vector<std::vector<Window>> windows_;  // by process: those in use, most recent first
  ManyOpen many_;
  std::vector<std::uint32_t> segments_;
  std::vector<FenceTarget> closed_;
  std::uint32_t serial_ = 0;
};

}  // namespace kojak::earl
