// What is known of open transfers, found by the process that issued them and their numbers there.
//
// Numbers are given out in ascending order, so each process has a table that is directly addressed
// by their low bits; a transfer in the way of a newer one moves to a hash index, or, where a
// quarter of the table is in use, the table doubles. So it stays as small as the open transfers are
// many, however long one of them stays open. Processes that the trace does not have are in the hash
// index only. Item has a member `id`, a uint32_t, and empty(), true of Item{}. Allocates only when
// it grows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "earl/detail/flat_index.h"
#include "epilog/format/record/types.h"

namespace kojak::earl::detail {

template <class Item>
class TransferTable {
 public:
  explicit TransferTable(std::uint32_t processes) : recent_(processes) {}

  // The transfer's item; made when new: then it is empty but for its id, and must be filled in at
  // once. Good until the next call.
  Item& get(ProcessId origin, RmaId rmaid) {
    const std::uint32_t id = raw(rmaid);
    if (old_.size() != 0 || raw(origin) >= recent_.size()) [[unlikely]] {
      const std::uint32_t i = old_.find(key(origin, id));
      if (i != kNone) return old_items_[i];
      if (raw(origin) >= recent_.size()) return add_old(origin, id);
    }
    Recent& recent = recent_[raw(origin)];
    if (recent.items.empty()) recent.items.resize(kFirst);
    Item* item = &recent.items[id & (recent.items.size() - 1)];
    if (!item->empty()) [[unlikely]] {
      if (item->id == id) return *item;
      item = make_room(origin, id);
    }
    ++recent.used;
    ++size_;
    item->id = id;
    return *item;
  }
  // Takes it out; an empty item if there is none.
  Item take(ProcessId origin, RmaId rmaid) {
    const std::uint32_t id = raw(rmaid);
    if (raw(origin) < recent_.size()) [[likely]] {
      Recent& recent = recent_[raw(origin)];
      if (recent.used != 0) [[likely]] {
        Item& item = recent.items[id & (recent.items.size() - 1)];
        if (item.id == id && !item.empty()) [[likely]] {
          --recent.used;
          --size_;
          return std::exchange(item, Item{});
        }
      }
    }
    return old_.size() != 0 ? take_old(origin, id) : Item{};
  }
  std::size_t size() const { return size_; }
  // f(ProcessId origin, const Item&) for all, in no particular order.
  template <class F>
  void for_each(F&& f) const {
    for (std::uint32_t p = 0; p < recent_.size(); ++p) {
      if (recent_[p].used == 0) continue;
      for (const Item& item : recent_[p].items) {
        if (!item.empty()) f(static_cast<ProcessId>(p), item);
      }
    }
    old_.for_each([&](const Key64& key, std::uint32_t i) {
      f(static_cast<ProcessId>(key.a >> 32), old_items_[i]);
    });
  }
  void clear() { *this = TransferTable(static_cast<std::uint32_t>(recent_.size())); }

 private:
  static constexpr std::size_t kFirst = 16;
  struct Recent {
    std::vector<Item> items;  // a power of two
    std::size_t used = 0;
  };
  static Key64 key(ProcessId origin, std::uint32_t id) {
    return {std::uint64_t{raw(origin)} << 32 | id};
  }
  [[gnu::noinline]] Item* make_room(ProcessId origin, std::uint32_t id) {
    Recent& recent = recent_[raw(origin)];
    if (recent.used * 4 >= recent.items.size()) {
      std::vector<Item> items(2 * recent.items.size());
      for (const Item& item : recent.items) {  // apart before, so apart now
        if (!item.empty()) items[item.id & (items.size() - 1)] = item;
      }
      recent.items = std::move(items);
    }
    Item& item = recent.items[id & (recent.items.size() - 1)];
    if (!item.empty()) {
      add_old(origin, item.id) = item;
      --size_;  // it was counted before
      --recent.used;
      item = Item{};
    }
    return &item;
  }
  [[gnu::noinline]] Item& add_old(ProcessId origin, std::uint32_t id) {
    const std::uint32_t i = old_items_.take();
    old_.insert(key(origin, id), i);
    old_items_[i] = Item{};
    old_items_[i].id = id;
    ++size_;
    return old_items_[i];
  }
  [[gnu::noinline]] Item take_old(ProcessId origin, std::uint32_t id) {
    const std::uint32_t i = old_.take(key(origin, id));
    if (i == kNone) return Item{};
    old_items_.give_back(i);
    --size_;
    return old_items_[i];
  }

  std::vector<Recent> recent_;  // by process
  FlatIndex<Key64> old_;
  Pool<Item> old_items_;
  std::size_t size_ = 0;
};

}  // namespace kojak::earl::detail
