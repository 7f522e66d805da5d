// Access and exposure epochs that belong together, directly or through others: o1 accesses t1 and
// t2, o2 accesses t2, so that the epochs of all four make one group.
//
// Fed with finished transactions; a group is closed when the transactions of all its epochs have
// been seen. Epochs are named by the position of their last call. Memory: open groups.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kojak::filter {

class EpochGroups {
 public:
  struct Group {
    std::vector<std::uint64_t> calls;   // positions
    bool selected = false;              // some call of it is
    bool unselected = false;            // some call of it is not
    std::vector<std::uint64_t> epochs;  // its members
    std::size_t awaited = 0;            // members whose own transaction is still to come
  };

  // The group that the epoch is in, so far; made when new.
  Group& group(std::uint64_t epoch) { return groups_[place(epoch)]; }
  void unite(std::uint64_t epoch, std::uint64_t partner) {
    std::uint32_t a = place(epoch), b = place(partner);
    if (a == b) return;
    if (groups_[a].epochs.size() < groups_[b].epochs.size()) std::swap(a, b);
    Group& to = groups_[a];
    Group& from = groups_[b];
    for (const std::uint64_t id : from.epochs) place_of_[id] = a;
    to.epochs.insert(to.epochs.end(), from.epochs.begin(), from.epochs.end());
    to.calls.insert(to.calls.end(), from.calls.begin(), from.calls.end());
    to.selected |= from.selected;
    to.unselected |= from.unselected;
    to.awaited += from.awaited;
    give_back(b);
  }
  // The epoch's own transaction has been seen, after all unite(). done(Group) if that closes it.
  template <class F>
  void seen(std::uint64_t epoch, F&& done) {
    const std::uint32_t at = place(epoch);
    Group& group = groups_[at];
    if (group.awaited == 0 || --group.awaited != 0) return;
    done(std::as_const(group));
    for (const std::uint64_t id : group.epochs) place_of_.erase(id);
    give_back(at);
  }
  // What is still open at the end.
  template <class F>
  void finish(F&& done) {
    for (const Group& group : groups_) {
      if (!group.epochs.empty()) done(group);
    }
  }

 private:
  std::uint32_t place(std::uint64_t epoch) {
    const auto [it, fresh] = place_of_.try_emplace(epoch, 0);
    if (!fresh) return it->second;
    if (free_.empty()) {
      it->second = static_cast<std::uint32_t>(groups_.size());
      groups_.emplace_back();
    } else {
      it->second = free_.back();
      free_.pop_back();
    }
    Group& group = groups_[it->second];
    group.epochs.push_back(epoch);
    group.awaited = 1;
    return it->second;
  }
  void give_back(std::uint32_t at) {
    Group& group = groups_[at];
    group.calls.clear();
    group.epochs.clear();
    group.selected = group.unselected = false;
    group.awaited = 0;
    free_.push_back(at);
  }

  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_of_;
};

}  // namespace kojak::filter
