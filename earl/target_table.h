// What an epoch knows of each of its targets, found quickly by process.
//
// Few targets are searched one by one, many through an index. clear() keeps the memory. Item is an
// aggregate whose first member is `ProcessId target`.
#pragma once

#include <vector>

#include "earl/detail/flat_index.h"
#include "epilog/format/record/types.h"

namespace kojak::earl {

template <class Item>
class TargetTable {
 public:
  // Number of the target's entry; kNone if there is none.
  std::uint32_t find(ProcessId target) const {
    if (last_ < items_.size() && items_[last_].target == target) [[likely]]
      return last_;
    if (items_.size() > kFew) return index_.find({raw(target)});
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (items_[i].target == target) return i;
    }
    return kNone;
  }
  // The same, made when new.
  std::uint32_t get(ProcessId target) {
    if (const std::uint32_t found = find(target); found != kNone) return last_ = found;
    last_ = static_cast<std::uint32_t>(items_.size());
    items_.push_back({.target = target});
    if (items_.size() == kFew + 1) {
      for (std::uint32_t i = 0; i < items_.size(); ++i) index_.insert({raw(items_[i].target)}, i);
    } else if (items_.size() > kFew + 1) {
      index_.insert({raw(target)}, last_);
    }
    return last_;
  }
  Item& operator[](std::uint32_t i) { return items_[i]; }
  const Item& operator[](std::uint32_t i) const { return items_[i]; }
  std::vector<Item>& items() { return items_; }
  const std::vector<Item>& items() const { return items_; }
  std::size_t size() const { return items_.size(); }
  void clear() {
    items_.clear();
    index_.clear();
    last_ = 0;
  }

 private:
  static constexpr std::size_t kFew = 8;
  std::vector<Item> items_;
  detail::FlatIndex<detail::Key64> index_;
  std::uint32_t last_ = 0;  // the target asked for last
};

}  // namespace kojak::earl
