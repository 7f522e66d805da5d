#include "earl/aspects/window_instances.h"

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
  instances_.forget_complete();
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
    ordinal = instances_.take_ordinal(g, rank, info->ranks.size(), call.process, segments_);
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
    instance.complete = false;
    instance.size = info->present;
  }
  instance.members.push_back({call, rank});
  switch (instances_.joined(g, i)) {
    case decltype(instances_)::Joined::kComplete:
      break;
    case decltype(instances_)::Joined::kGaveUp:
      if (!instances_.is_lost(w.groups[1]))
        findings_.add(Finding::kIncompleteCollective, call.exit_pos, call.loc);
      return nullptr;
    default:
      return nullptr;
  }
  instance.complete = true;
  if (role == MpiRole::kWinFree && w.groups[1].open.empty()) {  // the window is gone
    windows_.erase(id);
    last_ = nullptr;
  }
  return &instance;
}

void WindowInstances::begin(ProcessId process, WindowId id, std::uint64_t fences) {
  const detail::GroupInfo* info = groups_.find(id);
  const std::uint32_t rank = info == nullptr ? kAbsent : info->ranks.find(process);
  if (rank != kAbsent) instances_.resume(window(id).groups[1], rank, info->ranks.size(), fences);
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
  if (instances_.resume(window(id).groups[1], rank, info->ranks.size(), fences)) {
    findings_.add(fences == kCountLost ? Finding::kCountLost : Finding::kGap, pos);
  }
}

}  // namespace kojak::earl
