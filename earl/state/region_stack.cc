#include "earl/state/region_stack.h"

namespace kojak::earl {

void RegionStack::take_holes(Location& l, const Frame& frame, Call& call) {
  call.holes = Holes(std::span(l.holes).subspan(frame.holes));
  l.holes.resize(frame.holes);
}

void RegionStack::enter_metrics(Location& l, const MetricValues& values) {
  l.metrics.resize(std::size_t{l.depth} * 2 * metrics_);
  std::uint64_t* const own = l.metrics.data() + std::size_t{l.depth - 1} * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    own[i] = i < values.size() ? values[i] : 0;
    own[metrics_ + i] = 0;
  }
}

void RegionStack::leave_metrics(Location& l, const MetricValues& values) {
  const std::uint64_t* const own = l.metrics.data() + std::size_t{l.depth} * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    // Counters wrap around; a location's exit without values (end of a damaged trace) counts 0.
    const std::uint64_t inclusive = i < values.size() ? values[i] - own[i] : own[metrics_ + i];
    exclusive_[i] = inclusive - own[metrics_ + i];
    if (l.depth != 0)
      l.metrics[std::size_t{l.depth - 1} * 2 * metrics_ + metrics_ + i] += inclusive;
  }
}

}  // namespace kojak::earl
