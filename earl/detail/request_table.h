// Open requests of one process by their identifiers, which are given out in ascending order.
//
// A small table directly addressed by the low bits holds those of recent identifiers; older ones
// that are in the way of new ones move to a hash index. So the table stays as small as the open
// requests are many, however long one of them stays open.
#pragma once

#include <cstdint>
#include <vector>

#include "earl/detail/flat_index.h"

namespace kojak::earl::detail {

class RequestTable {
 public:
  // kNone if there is no such open request.
  std::uint32_t find(std::uint32_t id) const {
    if (!recent_.empty()) {
      const Entry& e = recent_[id & mask_];
      if (e.value != kNone && e.id == id) return e.value;
    }
    return old_.size() == 0 ? kNone : old_.find({id});
  }
  // The identifier must not be there yet.
  void insert(std::uint32_t id, std::uint32_t value) {
    if (recent_.empty() || recent_[id & mask_].value != kNone) make_room(id);
    recent_[id & mask_] = {id, value};
    ++count_;
    newest_ = id;
  }
  void erase(std::uint32_t id) {
    if (recent_.empty()) return;
    Entry& e = recent_[id & mask_];
    if (e.value != kNone && e.id == id) {
      e.value = kNone;
      --count_;
    } else {
      old_.erase({id});
    }
  }
  std::uint32_t newest() const { return newest_; }  // identifier inserted last
  // f(value) for all.
  template <class F>
  void for_each(F&& f) const {
    for (const Entry& e : recent_) {
      if (e.value != kNone) f(e.value);
    }
    old_.for_each([&](const Key64&, std::uint32_t value) { f(value); });
  }

 private:
  struct Entry {
    std::uint32_t id = 0, value = kNone;
  };
  void make_room(std::uint32_t id) {
    // A table that is mostly in use grows; in a sparse one the older request moves out.
    if (recent_.empty() || count_ * 4 >= recent_.size()) {
      std::vector<Entry> entries(recent_.empty() ? 8 : 2 * recent_.size());
      entries.swap(recent_);
      mask_ = static_cast<std::uint32_t>(recent_.size() - 1);
      for (const Entry& e : entries) {
        if (e.value != kNone) recent_[e.id & mask_] = e;  // distinct before, so distinct now
      }
    }
    Entry& e = recent_[id & mask_];
    if (e.value == kNone) return;
    old_.insert({e.id}, e.value);
    e.value = kNone;
    --count_;
  }
  std::vector<Entry> recent_;
  std::uint32_t mask_ = 0;
  std::size_t count_ = 0;  // in recent_
  std::uint32_t newest_ = 0;
  FlatIndex<Key64> old_;
};

}  // namespace kojak::earl::detail
