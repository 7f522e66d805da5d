#include "earl/call.h"

namespace kojak::earl {

void Holes::assign(std::span<const Interval> intervals) {
  data_ = std::make_unique<std::vector<Interval>>(intervals.begin(), intervals.end());
}

}  // namespace kojak::earl
