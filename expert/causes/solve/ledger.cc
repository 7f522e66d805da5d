#include "expert/causes/solve/ledger.h"

#include <algorithm>

namespace kojak::expert {

// Of intervals that overlap the same time counts once, however many waited in them: as much as
// there must be at least, so that there is enough in each of them.
void CauseLedger::note_longer(std::uint32_t number, Ticks from, Ticks to, Ticks longer,
                              bool compared) {
  constexpr std::size_t kLatest = 16;
  Sums& cost = costs_[number];
  cost.compared = cost.compared || compared;
  std::vector<LongerUntil>& counted = cost.counted;
  auto after = counted.end();
  while (after != counted.begin() && from < (after - 1)->to) --after;
  const Ticks before = after != counted.begin()    ? (after - 1)->longer
                       : counted.size() == kLatest ? counted.front().longer
                                                   : 0;
  const Ticks within = cost.longer - before;
  if (longer <= within) return;
  cost.longer += longer - within;
  if (!counted.empty() && to <= counted.back().to) {
    counted.back().longer = cost.longer;
    return;
  }
  if (counted.size() == kLatest) counted.erase(counted.begin());
  counted.push_back({to, cost.longer});
}

CauseLedger::Cost& CauseLedger::of_pattern(std::vector<std::pair<MetricIndex, Cost>>& patterns,
                                           MetricIndex metric) {
  for (auto& [known, sums] : patterns) {
    if (known == metric) return sums;
  }
  return patterns.emplace_back(metric, Cost{}).second;
}

void CauseLedger::add_direct(Sums& cost, std::uint32_t what, Amount amount) {
  if (amount == 0) return;
  const CauseLog::WaitPlace& place = log_.places[what];
  const auto add_to = [&](std::vector<std::pair<std::uint32_t, Amount>>& sums,
                          std::uint32_t& latest, auto&& is_same) {
    const auto same = [&](const auto& sum) { return is_same(log_.places[sum.first]); };
    if (latest >= sums.size() || !same(sums[latest])) {
      const auto known = std::find_if(sums.begin(), sums.end(), same);
      latest = static_cast<std::uint32_t>(known - sums.begin());
    }
    if (latest < sums.size()) {
      sums[latest].second += amount;
      return;
    }
    left_out_ = left_out_ || sums.size() == kKept;
    if (sums.size() < kKept) sums.emplace_back(what, amount);
  };
  add_to(cost.at, cost.latest_at, [&](const CauseLog::WaitPlace& other) {
    return other.call_path == place.call_path && other.metric == place.metric;
  });
  if (place.object == Operation::Object::kNothing) return;
  add_to(cost.objects, cost.latest_object, [&](const CauseLog::WaitPlace& other) {
    return other.object == place.object && other.object_id == place.object_id;
  });
}

void CauseLedger::leave_unexplained(WaitId wait, Amount amount) {
  if (amount == 0) return;
  unexplained_ += amount;
  PlaceSums& of = of_place_[log_.waits[wait].place];
  if (of.unexplained == kNone) {
    const CauseLog::WaitPlace& place = log_.places[log_.waits[wait].place];
    of.unexplained = unexplained_numbers_.number(place.location, place.call_path);
    if (of.unexplained == unexplained_at_.size()) unexplained_at_.push_back(0);
  }
  unexplained_at_[of.unexplained] += amount;
}

void CauseLedger::note_indirect(WaitId wait, Ticks indirect) {
  const CauseLog::WaitRecord& w = log_.waits[wait];
  if (log_.is_idle(w)) return;
  indirect = std::clamp(indirect, Ticks{0}, w.length);
  PlaceSums& of = of_place_[w.place];
  if (of.waits == kNone) {
    const CauseLog::WaitPlace& place = log_.places[w.place];
    of.waits = waits_numbers_.number(place.location, place.call_path);
    if (of.waits == waits_at_.size()) waits_at_.emplace_back();
    std::vector<WaitShare>& there = waits_at_[of.waits];
    auto sums = std::find_if(there.begin(), there.end(),
                             [&](const WaitShare& known) { return known.metric == place.metric; });
    if (sums == there.end()) sums = there.insert(there.end(), WaitShare{place.metric, 0, 0});
    of.row = static_cast<std::uint32_t>(sums - there.begin());
  }
  WaitShare& sums = waits_at_[of.waits][of.row];
  sums.direct += w.length - indirect;
  sums.indirect += indirect;
}

void CauseLedger::list(CauseSums& sums) const {
  sums.waits = all_;
  sums.unexplained = unexplained_;
  for (const Sums& of : costs_) {
    CauseCost cost{.location = of.location, .stretch = of.stretch, .patterns = of.patterns};
    for (const auto& [what, amount] : of.objects) {
      const CauseLog::WaitPlace& place = log_.places[what];
      cost.objects.push_back({{place.object, place.object_id}, amount});
    }
    for (const auto& [what, amount] : of.at) {
      const CauseLog::WaitPlace& place = log_.places[what];
      cost.at.push_back({{place.call_path, place.metric}, amount});
    }
    cost.most = of.via.amount;
    cost.via = of.via.link.wait;
    cost.links = of.via.link.length;
    cost.from = of.from;
    cost.to = of.to;
    cost.longer = of.longer;
    cost.compared = of.compared;
    sums.costs.push_back(std::move(cost));
  }
  for (std::size_t i = 0; i < unexplained_at_.size(); ++i) {
    sums.unexplained_at.push_back(
        {unexplained_numbers_.location(i), unexplained_numbers_.what(i), unexplained_at_[i]});
  }
  for (std::size_t i = 0; i < waits_at_.size(); ++i) {
    for (const WaitShare& w : waits_at_[i]) {
      sums.waits_at.push_back(
          {waits_numbers_.location(i), waits_numbers_.what(i), w.metric, w.direct, w.indirect});
    }
  }
}

}  // namespace kojak::expert
