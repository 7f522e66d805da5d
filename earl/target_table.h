// What an epoch knows of each of its targets, found quickly by process.
//
// Few targets are searched one by one, many through an index. A process goes through its targets in
// the same order in each of its epochs, so the one behind the last is looked at first, and clear()
// keeps the memory, the index, and the order: as long as an epoch repeats it, nothing is looked up
// and nothing is put into the index. Item is an aggregate whose first member is `ProcessId target`.
#pragma once

#include <span>
#include <vector>

#include "earl/detail/flat_index.h"
#include "epilog/format/record/types.h"

namespace kojak::earl {

template <class Item>
class TargetTable {
 public:
  // Number of the target's entry; kNone if there is none.
  std::uint32_t find(ProcessId target) const {
    if (last_ < size_ && items_[last_].target == target) [[likely]]
      return last_;
    if (last_ + 1 < size_ && items_[last_ + 1].target == target) return last_ + 1;
    if (size_ > kFew) {
      const std::uint32_t found = index_.find({raw(target)});
      return found < size_ ? found : kNone;
    }
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (items_[i].target == target) return i;
    }
    return kNone;
  }
  // The target's number; it is made when new.
  KOJAK_INLINED std::uint32_t get(ProcessId target) {
    // As a rule the last one again, or the one behind it, of this epoch or as in the epoch before,
    // or the first behind the last of all. (No two entries have one target.)
    if (last_ < size_) [[likely]] {
      if (items_[last_].target == target) return last_;
      if (last_ + 1 < size_) {
        if (items_[last_ + 1].target == target) return ++last_;
      } else if (size_ < items_.size() && items_[size_].target == target) {
        items_[size_] = {.target = target};
        return last_ = size_++;
      } else if (items_[0].target == target) {
        return last_ = 0;
      }
    }
    return get_another(target);
  }
  Item& operator[](std::uint32_t i) { return items_[i]; }
  const Item& operator[](std::uint32_t i) const { return items_[i]; }
  std::span<Item> items() { return {items_.data(), size_}; }
  std::span<const Item> items() const { return {items_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = last_ = 0; }
  // Fetches the entry that get() will look at.
  KOJAK_INLINED void fetch_next() const {
    if (items_.empty()) return;
    __builtin_prefetch(items_.data() + last_);
    __builtin_prefetch(items_.data() + last_ + 1, 1);
  }

 private:
  static constexpr std::uint32_t kFew = 8;
  // What get() does where the target is not the next one.
  std::uint32_t get_another(ProcessId target) {
    if (const std::uint32_t found = find(target); found != kNone) return last_ = found;
    if (size_ < items_.size()) [[unlikely]] {
      if (items_[size_].target == target) {
        items_[size_] = {.target = target};
        return last_ = size_++;
      }
      other_order();
    }
    last_ = size_++;
    items_.push_back({.target = target});
    if (size_ == kFew + 1) {
      for (std::uint32_t i = 0; i < size_; ++i) index_.insert({raw(items_[i].target)}, i);
    } else if (size_ > kFew + 1) {
      index_.insert({raw(target)}, last_);
    }
    return last_;
  }
  // Forgets the entries of the epoch before.
  [[gnu::noinline]] void other_order() {
    const bool indexed = items_.size() > kFew;
    items_.resize(size_);
    if (!indexed) return;
    index_.clear();
    if (size_ <= kFew) return;
    for (std::uint32_t i = 0; i < size_; ++i) index_.insert({raw(items_[i].target)}, i);
  }

  std::vector<Item> items_;  // the first size_; behind them those of the epoch before
  detail::FlatIndex<detail::Key64> index_;  // of all, if they are more than a few
  std::uint32_t size_ = 0;
  std::uint32_t last_ = 0;  // the target asked for last
};

}  // namespace kojak::earl
