#include "merge/define/linear_clock.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kojak::merge {
namespace {

LinearClock rate_map(const std::optional<ClockRate>& rate) {
  if (!rate || !std::isfinite(rate->factor.value) || rate->factor.value <= 0 ||
      !std::isfinite(rate->reference.value)) {
    return {};
  }
  const double factor = rate->factor.value;
  return {factor, rate->reference.value * (1 - factor)};
}

bool usable(const OffsetDef& offset) {
  return std::isfinite(offset.local.value) && std::isfinite(offset.offset.value);
}

bool same(const OffsetDef& a, const OffsetDef& b) {
  return a.local == b.local && a.offset == b.offset;
}

// outer(inner(t))
LinearClock composed(const LinearClock& outer, const LinearClock& inner) {
  return {outer.factor * inner.factor, outer.factor * inner.shift + outer.shift};
}

}  // namespace

std::vector<LinearClock> linear_clocks(const std::vector<ClockRecord>& traces,
                                       std::uint64_t& without) {
  without = 0;
  // The trace of each node that knows its clock best: the most offsets, then the lowest rank.
  std::unordered_map<std::uint32_t, std::size_t> best;
  const ClockRecord* master = nullptr;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto [it, fresh] = best.try_emplace(traces[i].node, i);
    if (!fresh && traces[i].offsets.size() > traces[it->second].offsets.size()) it->second = i;
    if (traces[i].rank == 0 && master == nullptr) master = &traces[i];
  }
  std::vector<LinearClock> clocks;
  clocks.reserve(traces.size());
  for (const ClockRecord& trace : traces) {
    const std::vector<OffsetDef>* offsets = &trace.offsets;
    const std::vector<OffsetDef>& other = traces[best[trace.node]].offsets;
    const bool prefix = std::equal(
        offsets->begin(), offsets->end(), other.begin(),
        other.begin() + static_cast<std::ptrdiff_t>(std::min(offsets->size(), other.size())), same);
    if (prefix) offsets = &other;
    const OffsetDef* first = nullptr;
    const OffsetDef* last = nullptr;
    for (const OffsetDef& offset : *offsets) {
      if (!usable(offset)) continue;
      if (first == nullptr) first = &offset;
      last = &offset;
    }
    const LinearClock own_rate = rate_map(trace.rate);
    const LinearClock master_rate = rate_map(master != nullptr ? master->rate : trace.rate);
    if (first == nullptr) {
      ++without;
      clocks.push_back(own_rate);
      continue;
    }
    const double l0 = first->local.value, o0 = first->offset.value;
    const double l1 = last->local.value, o1 = last->offset.value;
    const double slope = (o1 - o0) / (l1 - l0);
    if (l1 != l0 && std::isfinite(slope) && slope > -1) {
      // Two points fix the line whatever the rate of this clock is; rank 0's rate is the truth.
      clocks.push_back(composed(master_rate, {1 + slope, o0 - slope * l0}));
    } else {
      // One point: this clock's own rate carries it on from there.
      const double truth = master_rate(l0 + o0);
      clocks.push_back({own_rate.factor, truth - own_rate.factor * l0});
    }
  }
  return clocks;
}

}  // namespace kojak::merge
