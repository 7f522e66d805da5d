#include "earl/aspects/collective_instances.h"

#include "epilog/format/upc_names.h"

namespace kojak::earl {

CollectiveInstances::Group& CollectiveInstances::group(CommId com) {
  if (com != last_com_) {
    last_com_ = com;
    last_group_ = &groups_in_use_[com];
  }
  return *last_group_;
}

const CollectiveInstance* CollectiveInstances::leave(const CollectiveExit& exit) {
  instances_.forget_complete();
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
  Group& g = group(exit.com);
  const std::uint64_t ordinal =
      instances_.take_ordinal(g, rank, info->ranks.size(), call.process, segments_);
  bool made = false;
  const std::uint32_t i = instances_.find(g, ordinal, made);
  CollectiveInstance& instance = instances_[i];
  if (made) {
    instance.com = exit.com;
    instance.function = call.function;
    instance.region = call.region;
    instance.root = exit.root;
    instance.complete = instance.mixed = false;
    instance.intercommunicator = info->def->intercommunicator || !info->def->remote.empty();
    instance.size = info->present;
  } else if (instance.function != call.function) {
    if (!instance.mixed) findings_.add(Finding::kMixedCollective, call.exit_pos, call.loc);
    instance.mixed = true;
  } else if (is_absent(instance.root)) {
    instance.root = exit.root;  // intercommunicators: only the root's side knows it
  }
  instance.members.push_back({call, rank, exit.sent, exit.recvd, exit.flags});
  switch (instances_.joined(g, i)) {
    case decltype(instances_)::Joined::kComplete:
      instance.complete = true;
      return &instance;
    case decltype(instances_)::Joined::kGaveUp:
      if (!instances_.is_lost(g))
        findings_.add(Finding::kIncompleteCollective, call.exit_pos, call.loc);
      return nullptr;
    default:
      return nullptr;
  }
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
  if (instances_.resume(group(com), rank, info->ranks.size(), count)) {
    // A phase of UPC's barriers that was no barrier counts as one.
    if (count != kCountLost && info->def->name == kUpcPhases) return;
    findings_.add(count == kCountLost ? Finding::kCountLost : Finding::kGap, pos);
  }
}

}  // namespace kojak::earl
