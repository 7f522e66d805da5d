#include "earl/state/collective_instances.h"

namespace kojak::earl {

CollectiveInstances::Group* CollectiveInstances::group(CommId com, const detail::GroupInfo& info) {
  if (com == last_com_) return last_group_;
  Group& group = groups_in_use_[com];
  if (group.next.empty()) group.next.resize(info.ranks.size());
  last_com_ = com;
  last_group_ = &group;
  return last_group_;
}

const CollectiveInstance* CollectiveInstances::leave(const CollectiveExit& exit) {
  if (delivered_ != detail::kNone) instances_.recycle(delivered_);
  delivered_ = detail::kNone;
  const Call& call = *exit.call;
  const detail::GroupInfo* info = groups_.find(exit.com);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownComm, call.exit_pos, call.loc);
    return nullptr;
  }
  if (!info->def->identity_known) {
    findings_.add(Finding::kUnknownIdentity, call.exit_pos, call.loc);
    return nullptr;
  }
  const std::uint32_t rank = info->ranks.find(call.process);
  if (rank == kAbsent) {
    findings_.add(Finding::kNotAMember, call.exit_pos, call.loc);
    return nullptr;
  }
  Group& g = *group(exit.com, *info);
  if (!native_) g.next[rank] = std::max(g.next[rank], base(call.process));
  const std::uint64_t ordinal = g.next[rank]++;
  bool made = false;
  const std::uint32_t i = instances_.find(g, ordinal, made);
  CollectiveInstance& instance = instances_[i];
  if (made) {
    instance.com = exit.com;
    instance.function = call.function;
    instance.region = call.region;
    instance.root = exit.root;
    instance.mixed = false;
    instance.intercommunicator = info->def->intercommunicator || !info->def->remote.empty();
    instance.size = info->present;
  } else if (instance.function != call.function) {
    if (!instance.mixed) findings_.add(Finding::kMixedCollective, call.exit_pos, call.loc);
    instance.mixed = true;
  } else if (is_absent(instance.root)) {
    instance.root = exit.root;  // intercommunicators: only the root's side knows it
  }
  instance.members.push_back({call, rank, exit.sent, exit.recvd});
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
  delivered_ = i;
  return &instance;
}

void CollectiveInstances::resume(ProcessId process, CommId com, std::uint64_t count,
                                 std::uint64_t pos) {
  const detail::GroupInfo* info = groups_.find(com);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownComm, pos);
    return;
  }
  const std::uint32_t rank = info->ranks.find(process);
  if (rank == kAbsent) return;
  Group& g = *group(com, *info);
  if (count > g.next[rank]) {
    findings_.add(Finding::kGap, pos);
    g.next[rank] = count;
  }
}

void CollectiveInstances::pause(ProcessId process) {
  if (native_) return;
  if (segments_.size() < groups_.processes()) segments_.resize(groups_.processes());
  ++segments_[raw(process)];
}

}  // namespace kojak::earl
