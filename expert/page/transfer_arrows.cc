#include "expert/page/transfer_arrows.h"

#include <algorithm>
#include <numeric>

namespace kojak::html {
namespace {

constexpr std::uint32_t kGone = static_cast<std::uint32_t>(-1);

}  // namespace

void TransferArrows::add(ProcessId origin, RmaId rmaid, const TransferArrow& arrow,
                         const Epoch* epoch) {
  while (kept_.size() >= limit_ && level_ < 32) keep(level_ + 1);
  if (!is_kept(origin, rmaid) || kept_.size() >= limit_) return;
  const auto i = static_cast<std::uint32_t>(kept_.size());
  kept_.push_back(arrow);
  keys_.push_back({raw(origin), raw(rmaid)});
  open_.insert_or_assign(keys_.back().word(), i);
  if (epoch != nullptr) waiting_[*epoch].push_back(i);
}

void TransferArrows::end_kept(ProcessId origin, RmaId rmaid, Nanoseconds time) {
  const auto open = open_.find(Key{raw(origin), raw(rmaid)}.word());
  if (open == open_.end()) return;
  kept_[open->second].end = time;
  open_.erase(open);
}

// Of them one of 2^level, and what names them by their places.
void TransferArrows::keep(std::uint32_t level) {
  level_ = level;
  Numbers places(kept_.size(), kGone);
  std::uint32_t left = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (!is_kept(static_cast<ProcessId>(keys_[i].origin), static_cast<RmaId>(keys_[i].rmaid))) {
      continue;
    }
    kept_[left] = kept_[i];
    keys_[left] = keys_[i];
    places[i] = left++;
  }
  kept_.resize(left);
  keys_.resize(left);
  for (auto& open : open_) open.second = places[open.second];
  std::erase_if(open_, [](const auto& open) { return open.second == kGone; });
  const auto move = [&](auto& lists) {
    for (auto& list : lists) {
      for (std::uint32_t& i : list.second) i = places[i];
      std::erase(list.second, kGone);
    }
    std::erase_if(lists, [](const auto& list) { return list.second.empty(); });
  };
  move(waiting_);
  move(by_fence_);
  move(by_access_);
}

void TransferArrows::at_origin(std::uint32_t arrow, Sync sync) {
  kept_[arrow].origin_sync = sync.exit;
  kept_[arrow].origin_sync_length = sync.length;
}

TransferArrows::Numbers TransferArrows::take(const Epoch& epoch) {
  const auto found = waiting_.find(epoch);
  return found == waiting_.end() ? Numbers{} : std::exchange(found->second, {});
}

void TransferArrows::fence(const Epoch& epoch, std::uint64_t ordinal, Sync sync) {
  const Numbers arrows = take(epoch);
  if (arrows.empty()) return;
  for (const std::uint32_t i : arrows) at_origin(i, sync);
  Numbers& all = by_fence_[{epoch.window, ordinal}];
  all.insert(all.end(), arrows.begin(), arrows.end());
}

void TransferArrows::fence_complete(const FenceInstance& fence, std::uint64_t ordinal) {
  const auto arrows = by_fence_.extract({fence.window, ordinal});
  if (arrows.empty()) return;
  std::map<std::uint32_t, Nanoseconds> exits;  // by row
  for (std::size_t i = 0; i < fence.rows.size(); ++i) exits[fence.rows[i]] = fence.exits[i];
  for (const std::uint32_t i : arrows.mapped()) {
    if (const auto exit = exits.find(kept_[i].target); exit != exits.end()) {
      kept_[i].target_sync = exit->second;
    }
  }
}

void TransferArrows::access(const Epoch& epoch, std::uint64_t id, Sync sync) {
  Numbers arrows = take(epoch);
  if (arrows.empty()) return;
  for (const std::uint32_t i : arrows) at_origin(i, sync);
  by_access_[id] = std::move(arrows);
}

void TransferArrows::passive(const Epoch& epoch, bool all, std::uint32_t target, Sync sync) {
  Numbers arrows = take(epoch), others;
  if (all) first_unlocks_.emplace(epoch, sync);
  for (const std::uint32_t i : arrows) {
    if (all || kept_[i].target == target) {
      at_origin(i, sync);
    } else {
      others.push_back(i);
    }
  }
  if (!others.empty()) waiting_[epoch] = std::move(others);
}

void TransferArrows::add(TransferArrows& behind) {
  for (const auto& [epoch, sync] : behind.first_unlocks_) {
    for (const std::uint32_t i : take(epoch)) at_origin(i, sync);
    first_unlocks_.emplace(epoch, sync);
  }
  open_.clear();
  by_fence_.clear();
  by_access_.clear();
  const auto before = static_cast<std::uint32_t>(kept_.size());
  kept_.insert(kept_.end(), behind.kept_.begin(), behind.kept_.end());
  keys_.insert(keys_.end(), behind.keys_.begin(), behind.keys_.end());
  for (const auto& [epoch, arrows] : behind.waiting_) {
    for (const std::uint32_t i : arrows) waiting_[epoch].push_back(before + i);
  }
  seen_ += behind.seen_;
  const std::uint32_t level = std::max(level_, behind.level_);
  if (level_ != behind.level_) keep(level);
  while (kept_.size() > limit_ && level_ < 32) keep(level_ + 1);
}

std::vector<TransferArrow> TransferArrows::finish() {
  for (TransferArrow& arrow : kept_) {
    if (arrow.end == 0) arrow.end = std::max(arrow.start, arrow.request);
  }
  Numbers order(kept_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::tuple(kept_[a].request, keys_[a], a) < std::tuple(kept_[b].request, keys_[b], b);
  });
  std::vector<TransferArrow> arrows;
  arrows.reserve(order.size());
  for (const std::uint32_t i : order) arrows.push_back(kept_[i]);
  return arrows;
}

}  // namespace kojak::html
