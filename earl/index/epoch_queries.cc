// What the epochs answer.
#include <algorithm>

#include "earl/index/epochs.h"

namespace kojak::earl::sequence {

namespace {

void add_epoch(const Epoch& e, std::vector<std::uint64_t>& to) {
  if (e.opened != kNoEvent) to.push_back(e.opened);
  if (e.closed != kNoEvent) to.push_back(e.closed);
}

// The transfers of an access epoch to one target.
void add_operations(const Epoch& access, ProcessId target, std::vector<std::uint64_t>& to) {
  for (const Operation& o : access.operations) {
    if (o.target != target) continue;
    if (o.issued() != o.start) to.push_back(o.issued());
    to.push_back(o.start);
    if (o.end != kNoEvent) to.push_back(o.end);
  }
}

void sort_unique(std::vector<std::uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<std::uint64_t> EpochPair::events() const {
  std::vector<std::uint64_t> result;
  add_epoch(*access, result);
  add_epoch(*exposure, result);
  add_operations(*access, exposure->process, result);
  sort_unique(result);
  return result;
}

bool Transaction::whole() const {
  return root->complete() && std::all_of(partners.begin(), partners.end(), [](const Epoch* e) {
           return e != nullptr && e->complete();
         });
}

std::vector<std::uint64_t> Transaction::events() const {
  std::vector<std::uint64_t> result;
  add_epoch(*root, result);
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] != nullptr) add_epoch(*partners[i], result);
    if (root->mode == EpochMode::kAccess) {
      add_operations(*root, root->partners[i].process, result);
    } else if (partners[i] != nullptr) {
      add_operations(*partners[i], root->process, result);
    }
  }
  sort_unique(result);
  return result;
}

const Epoch* Epochs::access(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kAccess, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::exposure(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kExposure, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::fence(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kFence, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::lock(ProcessId process, WindowId window, ProcessId target) const {
  const std::uint32_t i = find_lock(process, window, target);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::lock_all(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kLockAll, window);
  return i == kNone ? nullptr : &epochs_[i];
}

std::optional<EpochPair> Epochs::pair_of(const Epoch& epoch, const Epoch::Partner& partner) const {
  if (partner.epoch == kNone || !epochs_[partner.epoch].is_closed) return std::nullopt;
  const Epoch* other = &epochs_[partner.epoch];
  const bool origin = epoch.mode == EpochMode::kAccess;
  return EpochPair{origin ? &epoch : other, origin ? other : &epoch};
}

std::optional<EpochPair> Epochs::epoch_pair(ProcessId partner) const {
  if (closed_ == kNone) return std::nullopt;
  for (const Epoch::Partner& p : epochs_[closed_].partners) {
    if (p.process == partner) return pair_of(epochs_[closed_], p);
  }
  return std::nullopt;
}

std::vector<EpochPair> Epochs::epoch_pairs() const {
  std::vector<EpochPair> result;
  if (closed_ == kNone) return result;
  for (const Epoch::Partner& p : epochs_[closed_].partners) {
    if (const auto pair = pair_of(epochs_[closed_], p)) result.push_back(*pair);
  }
  return result;
}

std::vector<Transaction> Epochs::completed(EpochMode mode) const {
  std::vector<Transaction> result;
  for (const std::uint32_t i : completed_) {
    if (epochs_[i].mode != mode) continue;
    Transaction t{&epochs_[i], {}};
    for (const Epoch::Partner& p : epochs_[i].partners) {
      t.partners.push_back(p.epoch == kNone ? nullptr : &epochs_[p.epoch]);
    }
    result.push_back(std::move(t));
  }
  return result;
}

std::vector<const Epoch*> Epochs::finished() const {
  std::vector<const Epoch*> result;
  for (const std::uint32_t i : completed_) {
    const EpochMode mode = epochs_[i].mode;
    if (mode != EpochMode::kAccess && mode != EpochMode::kExposure) result.push_back(&epochs_[i]);
  }
  return result;
}

}  // namespace kojak::earl::sequence
