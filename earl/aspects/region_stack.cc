#include "earl/aspects/region_stack.h"

#include <bit>

namespace kojak::earl {

RegionStack::RegionStack(std::uint32_t locations, std::vector<CounterKind> counters)
    : locations_(locations),
      rare_(locations),
      counters_(std::move(counters)),
      metrics_(static_cast<std::uint32_t>(counters_.size())),
      exclusive_(counters_.size()),
      counted_(counters_.size()) {
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

std::uint64_t RegionStack::sum(std::uint32_t metric, std::uint64_t a, std::uint64_t b) const {
  if (!counters_[metric].real) return a + b;
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}

// Integer counters wrap around.
std::uint64_t RegionStack::difference(std::uint32_t metric, std::uint64_t a,
                                      std::uint64_t b) const {
  if (!counters_[metric].real) return a - b;
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) - std::bit_cast<double>(b));
}

// What was counted up to now, from any beginning.
std::uint64_t RegionStack::total(Rare& rare, std::uint32_t metric, std::uint64_t value) const {
  const CounterKind::Interval interval = counters_[metric].interval;
  if (interval == CounterKind::Interval::kStart) return value;
  rare.totals.resize(metrics_);  // 0 is 0.0, too
  const std::uint64_t before = rare.totals[metric];
  rare.totals[metric] = sum(metric, before, value);
  return interval == CounterKind::Interval::kLast ? rare.totals[metric] : before;
}

// The total at an event, and how much of it came since the one before.
std::uint64_t RegionStack::count(Rare& rare, std::uint32_t metric, std::uint64_t value) {
  const std::uint64_t now = total(rare, metric, value);
  rare.last.resize(metrics_);
  counted_[metric] = difference(metric, now, rare.last[metric]);
  rare.last[metric] = now;
  return now;
}

void RegionStack::enter_metrics(std::uint32_t index, const MetricValues& values) {
  Rare& rare = rare_[index];
  const std::size_t open = depth(index);
  rare.metrics.resize(open * 2 * metrics_);
  std::uint64_t* const own = rare.metrics.data() + (open - 1) * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    counted_[i] = 0;
    own[i] = i < values.size() ? count(rare, i, values[i]) : 0;
    own[metrics_ + i] = 0;
  }
}

void RegionStack::leave_metrics(std::uint32_t index, const MetricValues& values) {
  Rare& rare = rare_[index];
  const std::size_t open = depth(index);
  const std::uint64_t* const own = rare.metrics.data() + open * 2 * metrics_;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    // An end without values (of a damaged trace) counts what is nested.
    const std::uint64_t nested = own[metrics_ + i];
    counted_[i] = 0;
    const std::uint64_t inclusive =
        i < values.size() ? difference(i, count(rare, i, values[i]), own[i]) : nested;
    exclusive_[i] = difference(i, inclusive, nested);
    if (open == 0) continue;
    std::uint64_t& above = rare.metrics[(open - 1) * 2 * metrics_ + metrics_ + i];
    above = sum(i, above, inclusive);
  }
}

}  // namespace kojak::earl
