// What open calls of SHMEM, ARMCI and UPC wait for.
#include "expert/ends/awaited_words.h"
#include "expert/ends/last_call_finder.h"

namespace kojak::expert {

static std::string_view name_of_unlock(PgasModel model) {
  switch (model) {
    case PgasModel::kArmci:
      return "ARMCI_Unlock";
    case PgasModel::kUpc:
      return "upc_unlock";
    default:
      return "shmem_clear_lock";
  }
}

const ShmemFunction* LastCallFinder::shmem_of(const earl::OpenCall& call) const {
  const ShmemFunction* const f = definitions_.shmem(call.region);
  return f != nullptr && f->may_block ? f : nullptr;
}

// Those of the active set that have neither come nor been there.
void LastCallFinder::for_shmem_members(const OpenCallState& s, LastCall& call) {
  const std::uint64_t ordinal = raw(s.note.ordinal);
  Attendance& there = shmem_meetings_[{s.shmem, s.note.cid, ordinal}];
  if (!there.missing) {
    there.missing = members_of(s.note.cid);
    for (const Rank rank : there.there) there.missing->erase(rank);
    for (auto open = collectives_.lower_bound({raw(s.note.cid), ordinal, MpiRole{}});
         open != collectives_.end() && std::get<0>(open->first) == raw(s.note.cid) &&
         std::get<1>(open->first) == ordinal;
         ++open) {
      for (const Rank rank : open->second) there.missing->erase(rank);
    }
  }
  const Ranks& missing = *there.missing;
  if (missing.empty()) return;
  const bool notified = s.shmem->role == ShmemRole::kNotifyWait;
  const std::string name(notified ? "upc_notify" : s.shmem->name);
  const Rank root = raw(s.note.dlid);
  if (root != s.process() && missing.contains(root)) {
    return wait_for(call, AwaitedThing::kMembers, name + " of " + one_of_shmem(root) + ", the root",
                    {root});
  }
  wait_for(call, AwaitedThing::kMembers, name + " of " + rank_words(missing, "and", process_word_),
           missing);
}

std::string LastCallFinder::one_of_shmem(Rank rank) const {
  return std::string(process_word_) + ' ' + std::to_string(rank);
}

std::string LastCallFinder::tested_for(const MpiPoll& m) const {
  const RegionDef* const region = definitions_.regions.find(m.rid);
  if (region == nullptr || region->shmem_role() != ShmemRole::kTestLock) {
    return "a write to its variable";
  }
  const auto holder = holders_.find(static_cast<std::uint32_t>(raw(m.disp)));
  if (holder == holders_.end() || holder->second == kAbsent) return "a lock";
  return "shmem_clear_lock of " + one_of_shmem(holder->second);
}

void LastCallFinder::for_shmem(const OpenCallState& s, LastCall& call) {
  if (!s.noted) return;
  if (!is_absent(s.note.cid)) return for_shmem_members(s, call);
  switch (s.shmem->role) {
    case ShmemRole::kWait:
    case ShmemRole::kWaitUntil: {
      Ranks others = everybody_;
      others.erase(s.process());
      call.any = true;
      return wait_for(call, AwaitedThing::kWrite, "a write of any other process to its variable",
                      others);
    }
    case ShmemRole::kSetLock: {
      const auto holder = holders_.find(static_cast<std::uint32_t>(raw(s.note.ordinal)));
      if (holder == holders_.end() || holder->second == kAbsent) return;
      if (holder->second == s.process()) return;
      return wait_for(
          call, AwaitedThing::kClearLock,
          std::string(name_of_unlock(s.shmem->model)) + " of " + one_of_shmem(holder->second),
          {holder->second});
    }
    default: {
      const Rank target = raw(s.note.dlid);
      if (target == kAbsent || target == s.process()) return;
      return wait_for(call, AwaitedThing::kProgress,
                      "progress at " + one_of_shmem(target) + ", its target", {target});
    }
  }
}

}  // namespace kojak::expert
