// Operations that the members of a group take part in, in the same order at each: the n-th of one
// member is the n-th of all.
//
// Keeps the open instances of one group by their ordinals, and where each member stands: ordinals
// come from the latest COLL_STATE or WIN_STATE of the member plus what follows it. Instances live
// here, in a pool. Memory: open instances x members in them, capped: when too many wait for a
// member that never comes, the oldest are given up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "earl/detail/recording_segments.h"
#include "earl/pool.h"
#include "epilog/format/field_values.h"

namespace kojak::earl::detail {

// Instance has `ordinal`, `size`, and a vector of its members.
template <class Instance, auto kMembers = &Instance::members>
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

  // The number of the member's next operation; `segments`: of the process that it is.
  static std::uint64_t take_ordinal(Group& group, std::uint32_t rank, std::uint32_t size,
                                    ProcessId process, const RecordingSegments& segments) {
    if (group.next.empty()) group.next.resize(size);
    segments.begin(group.next[rank], process);
    return group.next[rank]++;
  }
  // So many operations the member had taken part in when it was recorded again; false: no news.
  static bool resume(Group& group, std::uint32_t rank, std::uint32_t size, std::uint64_t count) {
    if (group.next.empty()) group.next.resize(size);
    if (count <= group.next[rank]) return false;
    group.next[rank] = count;
    return true;
  }

  // A member of the group has failed in one: it does not take part in any that follows.
  static bool is_lost(const Group& group) {
    return std::find(group.next.begin(), group.next.end(), kCountLost) != group.next.end();
  }

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
    members(instance).clear();
    pool_[instance].ordinal = ordinal;
    return instance;
  }
  enum class Joined : std::uint8_t { kOpen, kComplete, kGaveUp };
  // After a member has been added to an instance: that is complete now, and stays valid until
  // forget_complete(); or it is one of too many, and the oldest was given up.
  Joined joined(Group& group, std::uint32_t instance) {
    return joined(group, instance, [](const Instance&) {});
  }
  // f(const Instance&) for one that is given up.
  template <class F>
  Joined joined(Group& group, std::uint32_t instance, F&& given_up) {
    ++group.members;
    if (members(instance).size() >= pool_[instance].size) {
      close(group, pool_[instance].ordinal);
      complete_ = instance;
      return Joined::kComplete;
    }
    // The members of a group wait for one that never comes.
    if (group.members <= std::max(kMaxMembers, 4 * group.next.size())) return Joined::kOpen;
    const auto oldest = group.open[group.head];
    given_up(static_cast<const Instance&>(pool_[oldest.instance]));
    close(group, oldest.ordinal);
    pool_.give_back(oldest.instance);
    return Joined::kGaveUp;
  }
  KOJAK_INLINED bool has_complete() const { return complete_ != kNone; }
  // The instance that joined() completed; nullptr: none.
  const Instance* complete() const { return complete_ == kNone ? nullptr : &pool_[complete_]; }
  void forget_complete() {
    if (complete_ != kNone) pool_.give_back(complete_);
    complete_ = kNone;
  }
  // Makes one that is complete.
  Instance& restore_complete() { return pool_[complete_ = pool_.take()]; }

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
  Instance& operator[](std::uint32_t i) { return pool_[i]; }
  const Instance& operator[](std::uint32_t i) const { return pool_[i]; }

 private:
  auto& members(std::uint32_t i) { return pool_[i].*kMembers; }
  void close(Group& group, std::uint64_t ordinal) {
    std::vector<typename Group::Open>& open = group.open;
    const auto begin = open.begin() + static_cast<std::ptrdiff_t>(group.head);
    const auto it = std::lower_bound(begin, open.end(), ordinal,
                                     [](const auto& a, std::uint64_t n) { return a.ordinal < n; });
    if (it == open.end() || it->ordinal != ordinal) return;
    group.members -= members(it->instance).size();
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
  Pool<Instance> pool_;
  std::uint32_t complete_ = kNone;
};

}  // namespace kojak::earl::detail
