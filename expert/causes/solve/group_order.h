// The members of a group operation in the order in which they came to it. One object is used for
// one after the other; it keeps their memory.
#pragma once

#include <vector>

#include "expert/causes/log.h"

namespace kojak::expert {

struct ArrivalRecord {
  Ticks time;
  LocationIndex location;
  std::uint32_t member = 0;  // of its group, in the order of their locations
};

class GroupOrder {
 public:
  static constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

  explicit GroupOrder(const CauseLog& log) : log_(log), place_of_(log.timelines.size()) {}

  void look_at(const CauseLog::Group& group);
  const std::vector<ArrivalRecord>& arrivals() const { return arrivals_; }
  // How much of a waiter's time falls to each late one: a waiter at place p waits `shares()[j] -
  // shares()[p]` for the one at j > p: each moment is shared by all that are still missing.
  const std::vector<double>& shares() const { return shares_; }
  // Where a location stands among them; kNoPlace if it is none of them.
  std::size_t place_of(LocationIndex location) const {
    const std::size_t place = place_of_[location];
    const bool member = place < arrivals_.size() && arrivals_[place].location == location;
    return member ? place : kNoPlace;
  }

 private:
  const CauseLog& log_;
  std::vector<ArrivalRecord> arrivals_;
  std::vector<double> shares_;
  std::vector<std::uint32_t> place_of_;  // by location
};

}  // namespace kojak::expert
