// The latest moment up to which two locations are known to have come together: the last enter of an
// operation in which both waited for all its members, or the end of the last wait of one of them
// for the other.
//
// Told of these in the order of time. Memory: groups x members, and pairs that waited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

class CommonMoments {
 public:
  using GroupId = std::uint32_t;
  struct Partner {
    LocationIndex location;
    Ticks time;  // of the last wait of one for the other
  };

  explicit CommonMoments(std::size_t locations)
      : groups_of_(locations), partners_(locations), next_(locations) {}

  // The group with these members, in ascending order.
  GroupId group(const std::vector<LocationIndex>& members) {
    const auto [known, added] = numbers_.try_emplace(members, static_cast<GroupId>(groups_.size()));
    if (added) {
      groups_.push_back({members, 0});
      for (const LocationIndex m : members) groups_of_[m].push_back(known->second);
    }
    return known->second;
  }
  GroupId size() const { return static_cast<GroupId>(groups_.size()); }
  const std::vector<LocationIndex>& members(GroupId group) const { return groups_[group].members; }
  void came_together(GroupId group, Ticks time) {
    groups_[group].last = std::max(groups_[group].last, time);
  }
  void waited(LocationIndex a, LocationIndex b, Ticks time) {
    note(a, b, time);
    note(b, a, time);
  }

  Ticks of_group(GroupId group) const {
    Ticks last = groups_[group].last;
    const std::vector<LocationIndex>& members = groups_[group].members;
    for (const GroupId g : groups_of_[members.front()]) {
      const Group& other = groups_[g];
      if (other.last > last && std::includes(other.members.begin(), other.members.end(),
                                             members.begin(), members.end())) {
        last = other.last;
      }
    }
    return last;
  }
  Ticks of_pair(LocationIndex a, LocationIndex b) const {
    Ticks last = 0;
    for (const GroupId g : groups_of_[a]) {
      const Group& group = groups_[g];
      if (group.last > last && std::binary_search(group.members.begin(), group.members.end(), b)) {
        last = group.last;
      }
    }
    for (const Partner& p : partners_[a]) {
      if (p.location == b) return std::max(last, p.time);
    }
    return last;
  }
  // Whom the location waited for, or who for it, since that time.
  const std::vector<Partner>& partners_since(LocationIndex location, Ticks time) {
    std::vector<Partner>& partners = partners_[location];
    std::erase_if(partners,
                  [&](const Partner& p) { return p.time <= time && is_old(location, p); });
    return partners;
  }

 private:
  struct Group {
    std::vector<LocationIndex> members;
    Ticks last = 0;
  };
  bool is_old(LocationIndex a, const Partner& p) const {
    return std::any_of(groups_of_[a].begin(), groups_of_[a].end(), [&](GroupId g) {
      const Group& group = groups_[g];
      return group.last >= p.time &&
             std::binary_search(group.members.begin(), group.members.end(), p.location);
    });
  }
  void note(LocationIndex a, LocationIndex b, Ticks time) {
    std::vector<Partner>& partners = partners_[a];
    // Mostly partners come in the same order again and again.
    std::size_t& next = next_[a];
    for (std::size_t left = partners.size(); left != 0; --left) {
      if (next >= partners.size()) next = 0;
      Partner& p = partners[next++];
      if (p.location != b) continue;
      p.time = std::max(p.time, time);
      return;
    }
    partners.push_back({b, time});
  }

  std::vector<Group> groups_;
  std::map<std::vector<LocationIndex>, GroupId> numbers_;
  std::vector<std::vector<GroupId>> groups_of_;  // by location
  std::vector<std::vector<Partner>> partners_;   // by location
  std::vector<std::size_t> next_;                // by location: of its partners
};

}  // namespace kojak::expert
