#include "earl/state/window_instances.h"

namespace kojak::earl {

WindowInstances::Window& WindowInstances::window(WindowId id) {
  if (last_ == nullptr || id != last_id_) {
    last_ = &windows_[id];
    last_id_ = id;
  }
  return *last_;
}

const WindowInstance* WindowInstances::leave(const Call& call, WindowId id,
                                             std::uint64_t& ordinal) {
  if (delivered_ != detail::kNone) instances_.recycle(delivered_);
  delivered_ = detail::kNone;
  ordinal = 0;
  const detail::GroupInfo* info = groups_.find(id);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownWindow, call.exit_pos, call.loc);
    return nullptr;
  }
  const std::uint32_t rank = info->ranks.find(call.process);
  if (rank == kAbsent) {
    findings_.add(Finding::kNotAMember, call.exit_pos, call.loc);
    return nullptr;
  }
  const MpiRole role = call.role();
  Window& w = window(id);
  Group& g = w.groups[role == MpiRole::kWinCreate ? 0 : role == MpiRole::kWinFence ? 1 : 2];
  if (role == MpiRole::kWinFence) {
    if (g.next.empty()) g.next.resize(info->ranks.size());
    if (!native_ && raw(call.process) < segments_.size()) {
      g.next[rank] = std::max(g.next[rank], std::uint64_t{segments_[raw(call.process)]} << 40);
    }
    ordinal = g.next[rank]++;
  }
  if (!groups_.window(id)->identity_known) {
    findings_.add(Finding::kUnknownIdentity, call.exit_pos, call.loc);
    return nullptr;
  }
  bool made = false;
  const std::uint32_t i = instances_.find(g, ordinal, made);
  WindowInstance& instance = instances_[i];
  if (made) {
    instance.window = id;
    instance.role = role;
    instance.size = info->present;
  }
  instance.members.push_back({call, rank});
  ++g.members;
  if (instance.members.size() < instance.size) {
    if (instances_.too_many(g)) {
      const auto oldest = g.open[g.head];
      findings_.add(Finding::kIncompleteCollective, call.exit_pos, call.loc);
      instances_.close(g, oldest.ordinal);
      instances_.recycle(oldest.instance);
    }
    return nullptr;
  }
  instance.complete = true;
  instances_.close(g, ordinal);
  if (role == MpiRole::kWinFree && w.groups[1].open.empty()) {  // the window is gone
    windows_.erase(id);
    last_ = nullptr;
  }
  delivered_ = i;
  return &instance;
}

void WindowInstances::resume(ProcessId process, WindowId id, std::uint64_t fences,
                             std::uint64_t pos) {
  const detail::GroupInfo* info = groups_.find(id);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownWindow, pos);
    return;
  }
  const std::uint32_t rank = info->ranks.find(process);
  if (rank == kAbsent) return;
  Group& g = window(id).groups[1];
  if (g.next.empty()) g.next.resize(info->ranks.size());
  if (fences > g.next[rank]) {
    findings_.add(Finding::kGap, pos);
    g.next[rank] = fences;
  }
}

void WindowInstances::pause(ProcessId process) {
  if (native_) return;
  if (segments_.size() < groups_.processes()) segments_.resize(groups_.processes());
  ++segments_[raw(process)];
}

}  // namespace kojak::earl
