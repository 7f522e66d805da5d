#include "tools/elg2otf2/numbers.h"

#include <algorithm>

namespace kojak::otf2 {
namespace {

constexpr OTF2_GroupRef kFirstGroup = 1;  // 0: all processes
constexpr std::uint32_t kMostProcesses = 1u << 24;

}  // namespace

Numbers::Numbers(const Definitions& definitions) : definitions_(definitions) {
  definitions.locations.for_each([&](LocationId lid, const LocationDef& def) {
    const auto index = static_cast<std::uint32_t>(lids_.size());
    lids_.push_back(lid);
    process_.push_back(def.process);
    location_.set(lid, index);
    const std::uint32_t rank = raw(def.process);
    if (rank >= kMostProcesses) return;
    if (rank >= main_.size()) main_.resize(rank + 1, kAbsent);
    if (raw(def.thread) == 0) main_[rank] = index;
  });
  if (definitions.merged_run) {
    const std::uint32_t size = raw(definitions.merged_run->size);
    if (size > main_.size() && size < kMostProcesses) main_.resize(size, kAbsent);
  }
  std::uint32_t next = 0;
  bool tracing = false, pausing = false;
  definitions.regions.for_each([&](RegionId id, const RegionDef& def) {
    next = std::max(next, raw(id) + 1);
    if (def.is_tracing()) {
      tracing_ = raw(id);
      tracing = true;
    } else if (def.is_pausing()) {
      pausing_ = raw(id);
      pausing = true;
    }
  });
  unknown_region_ = next++;
  if (!tracing) tracing_ = next++;
  if (!pausing) pausing_ = next++;
  std::uint32_t group = kFirstGroup;
  definitions.comms.for_each([&](CommId id, const CommDef& comm) {
    const bool two = comm.intercommunicator && !comm.remote.empty();
    CommNumbers numbers{OTF2_UNDEFINED_COMM, group};
    if (!comm.stands_for_group) {
      numbers.comm = static_cast<OTF2_CommRef>(comm_ids_.size());
      comm_ids_.push_back(id);
    }
    comms_.set(id, numbers);
    group_ids_.resize(group, absent<CommId>());
    group_ids_.push_back(id);
    group += two ? 2 : 1;
  });
  OTF2_RmaWinRef window = 0;
  definitions.windows.for_each(
      [&](WindowId id, const WindowDef&) { window = std::max(window, raw(id) + 1); });
  definitions.regions.for_each([&](RegionId, const RegionDef& def) {
    if (def.shmem == nullptr ||
        std::ranges::find(shared_, def.shmem->model, &SharedMemory::model) != shared_.end())
      return;
    const auto comm = static_cast<OTF2_CommRef>(comm_ids_.size() + shared_.size());
    SharedMemory shared{def.shmem->model, window++, comm};
    // (The processes of ARMCI are MPI's.)
    if (shared.model != PgasModel::kArmci) shared.locations = group++;
    shared.members = group++;
    shared_.push_back(shared);
  });
}

const Numbers::Ranks* Numbers::ranks_of(CommId id) {
  const CommDef* const comm = definitions_.comms.find(id);
  if (comm == nullptr) return nullptr;
  const auto [it, added] = ranks_.try_emplace(raw(id));
  Ranks& ranks = it->second;
  if (!added) return &ranks;
  ranks.members = comm->intercommunicator && !comm->remote.empty() ? &comm->remote : &comm->ranks;
  const RankList& members = *ranks.members;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    if (members[i] != i && ranks.others.empty()) {
      for (std::uint32_t k = 0; k < i; ++k) ranks.others.try_emplace(k, k);
    }
    if (members[i] != i || !ranks.others.empty()) ranks.others.try_emplace(members[i], i);
  }
  return &ranks;
}

std::uint32_t Numbers::rank(CommId id, PeerId peer) {
  if (latest_ == nullptr || id != latest_comm_) {
    latest_ = ranks_of(id);
    latest_comm_ = id;
    if (latest_ == nullptr) return kAbsent;
  }
  if (latest_->others.empty()) return raw(peer) < latest_->members->size() ? raw(peer) : kAbsent;
  const auto known = latest_->others.find(raw(peer));
  return known == latest_->others.end() ? kAbsent : known->second;
}

std::uint32_t Numbers::window_rank(WindowId id, PeerId peer) {
  const WindowDef* const window = definitions_.windows.find(id);
  return window == nullptr ? kAbsent : rank(window->comm, peer);
}

}  // namespace kojak::otf2
