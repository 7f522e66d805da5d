// Operations that the members of a group take part in, in the same order at each: the n-th of one
// member is the n-th of all.
//
// Keeps the open instances of one group by their ordinals, and where each member stands. Instances
// live in a pool of the owner. Memory: open instances x members in them, capped: when too many wait
// for a member that never comes, the oldest are given up. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "earl/detail/pool.h"

namespace kojak::earl::detail {

// Instance has `members` (a vector), `ordinal`, `size`, `complete`.
template <class Instance>
class Rendezvous {
 public:
  static constexpr std::size_t kMaxMembers = 1u << 18;

  struct Group {
    struct Open {
      std::uint64_t ordinal;
      std::uint32_t instance;
    };
    std::vector<std::uint64_t> next;  // by rank: ordinal of its next operation
    std::vector<Open> open;           // by ordinal, from `head` on
    std::size_t head = 0;
    std::size_t members = 0;  // in open instances
  };

  // The instance with this ordinal; `made` tells whether it is new (then fill it in).
  std::uint32_t find(Group& group, std::uint64_t ordinal, bool& made) {
    std::vector<typename Group::Open>& open = group.open;
    made = false;
    const auto begin = open.begin() + static_cast<std::ptrdiff_t>(group.head);
    auto it = begin;
    if (it != open.end() && it->ordinal < ordinal) {
      it = std::lower_bound(begin, open.end(), ordinal,
                            [](const auto& a, std::uint64_t n) { return a.ordinal < n; });
    }
    if (it != open.end() && it->ordinal == ordinal) return it->instance;
    made = true;
    const std::uint32_t instance = pool_.take();
    open.insert(it, {ordinal, instance});
    pool_[instance].members.clear();
    pool_[instance].ordinal = ordinal;
    pool_[instance].complete = false;
    return instance;
  }
  // Takes a complete instance out of the group; it stays valid until recycle().
  void close(Group& group, std::uint64_t ordinal) {
    std::vector<typename Group::Open>& open = group.open;
    const auto begin = open.begin() + static_cast<std::ptrdiff_t>(group.head);
    const auto it = std::lower_bound(begin, open.end(), ordinal,
                                     [](const auto& a, std::uint64_t n) { return a.ordinal < n; });
    if (it == open.end() || it->ordinal != ordinal) return;
    group.members -= pool_[it->instance].members.size();
    if (it != begin) {
      open.erase(it);
    } else if (++group.head == open.size()) {
      open.clear();
      group.head = 0;
    } else if (group.head >= 64 && group.head * 2 >= open.size()) {
      open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(group.head));
      group.head = 0;
    }
  }
  // f(const Instance&) for every open instance, oldest first; they are gone then.
  template <class F>
  void give_up(Group& group, F&& f) {
    for (std::size_t i = group.head; i < group.open.size(); ++i) {
      f(static_cast<const Instance&>(pool_[group.open[i].instance]));
      pool_.give_back(group.open[i].instance);
    }
    group.open.clear();
    group.head = group.members = 0;
  }
  std::size_t live() const { return pool_.live(); }
  // The oldest open instance's ordinal, if a cap is exceeded.
  bool too_many(const Group& group) const {
    return group.members > std::max(kMaxMembers, 4 * group.next.size());
  }
  Instance& operator[](std::uint32_t i) { return pool_[i]; }
  void recycle(std::uint32_t i) { pool_.give_back(i); }

 private:
  Pool<Instance> pool_;
};

}  // namespace kojak::earl::detail
