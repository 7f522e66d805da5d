#include "expert/causes/solve/group_order.h"

#include <algorithm>

#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {

void GroupOrder::look_at(const CauseLog::Group& group) {
  const std::vector<LocationIndex>& members = log_.moments.members(group.id);
  arrivals_.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    arrivals_.push_back(
        {log_.presences[group.first + i].enter, members[i], static_cast<std::uint32_t>(i)});
  }
  const auto earlier = [](const ArrivalRecord& a, const ArrivalRecord& b) {
    return a.time != b.time ? a.time < b.time : a.location < b.location;
  };
  if (!insert_each(std::span(arrivals_), earlier)) {
    std::sort(arrivals_.begin(), arrivals_.end(), earlier);
  }
  shares_.assign(arrivals_.size(), 0);
  for (std::size_t j = 0; j < arrivals_.size(); ++j) {
    place_of_[arrivals_[j].location] = static_cast<std::uint32_t>(j);
    if (j == 0) continue;
    shares_[j] = shares_[j - 1] + static_cast<double>(arrivals_[j].time - arrivals_[j - 1].time) /
                                      static_cast<double>(arrivals_.size() - j);
  }
}

}  // namespace kojak::expert
