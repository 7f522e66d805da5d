// The targets that an epoch has issued transfers to, found quickly by process.
//
// Few targets are searched one by one, many through an index. clear() keeps the memory. Not
// thread-safe.
#pragma once

#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/state/fence_epochs.h"

namespace kojak::earl::detail {

class TargetSet {
 public:
  // Number of the target's entry; made when new.
  std::uint32_t find(ProcessId target) {
    if (last_ < items_.size() && items_[last_].target == target) [[likely]]
      return last_;
    if (items_.size() <= kFew) {
      for (std::uint32_t i = 0; i < items_.size(); ++i) {
        if (items_[i].target == target) return last_ = i;
      }
    } else if (const std::uint32_t i = index_.find({raw(target)}); i != kNone) {
      return last_ = i;
    }
    last_ = static_cast<std::uint32_t>(items_.size());
    items_.push_back({target, {}});
    if (items_.size() == kFew + 1) {
      for (std::uint32_t i = 0; i < items_.size(); ++i) index_.insert({raw(items_[i].target)}, i);
    } else if (items_.size() > kFew + 1) {
      index_.insert({raw(target)}, last_);
    }
    return last_;
  }
  // kNone if there is none.
  std::uint32_t lookup(ProcessId target) const {
    if (items_.size() > kFew) return index_.find({raw(target)});
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (items_[i].target == target) return i;
    }
    return kNone;
  }
  TargetTransfers& operator[](std::uint32_t i) { return items_[i].transfers; }
  const std::vector<FenceTarget>& items() const { return items_; }
  std::size_t size() const { return items_.size(); }
  void clear() {
    items_.clear();
    index_.clear();
    last_ = 0;
  }

 private:
  static constexpr std::size_t kFew = 8;
  std::vector<FenceTarget> items_;
  FlatIndex<Key64> index_;
  std::uint32_t last_ = 0;
};

}  // namespace kojak::earl::detail
