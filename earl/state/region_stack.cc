#include "earl/state/region_stack.h"

namespace kojak::earl {

RegionStack::RegionStack(std::uint32_t locations, std::uint32_t metrics)
    : locations_(locations), rare_(locations), metrics_(metrics), exclusive_(metrics) {
  for (Location& l : locations_) {
    constexpr std::size_t kFirst = 4;
    l.frames = std::make_unique<Frame[]>(kFirst);
    l.frames[0].cnode = absent<CallPathId>();
    l.top = l.frames.get();
    l.limit = l.top + kFirst;
  }
}

void RegionStack::grow(Location& l) {
  const auto size = static_cast<std::size_t>(l.limit - l.frames.get());
  auto frames = std::make_unique<Frame[]>(2 * size);
  for (std::size_t i = 0; i < size; ++i) frames[i] = std::move(l.frames[i]);
  l.frames = std::move(frames);
  l.top = l.frames.get() + size - 1;
  l.limit = l.frames.get() + 2 * size;
}

void RegionStack::handle_holes(std::uint32_t index, Frame& frame) {
  Location& l = locations_[index];
  std::vector<Interval>& list = rare_[index].holes;
  frame.holes = Holes(std::span(list).subspan(frame.first_hole));
  list.resize(frame.first_hole);
  if (l.top->keeps_holes) list.push_back({frame.enter, frame.exit});
  l.holes = static_cast<std::uint32_t>(list.size());
}

void RegionStack::enter_metrics(std::uint32_t index, const MetricValues& values) {
  std::vector<std::uint64_t>& metrics = rare_[index].metrics;
  const std::size_t open = depth(index);
  metrics.resize(open * 2 * metrics_);
  std::uint64_t* const own = metrics.data() + (open - 1) * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    own[i] = i < values.size() ? values[i] : 0;
    own[metrics_ + i] = 0;
  }
}

void RegionStack::leave_metrics(std::uint32_t index, const MetricValues& values) {
  std::vector<std::uint64_t>& metrics = rare_[index].metrics;
  const std::size_t open = depth(index);
  const std::uint64_t* const own = metrics.data() + open * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    // Counters wrap around; an end without values (of a damaged trace) counts what is nested.
    const std::uint64_t inclusive = i < values.size() ? values[i] - own[i] : own[metrics_ + i];
    exclusive_[i] = inclusive - own[metrics_ + i];
    if (open != 0) metrics[(open - 1) * 2 * metrics_ + metrics_ + i] += inclusive;
  }
}

}  // namespace kojak::earl
