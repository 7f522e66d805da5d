#include "expert/causes/solve/comparison.h"

#include <algorithm>

namespace kojak::expert {
namespace {

// What those did on the average who waited for the one at `place`, weighted with their waits.
struct MeanOf {
  const ActivityOfWaiters &all, &less;  // of them, and of those of them who are left out
  double place, waited;
  bool nobody_left_out = less.empty();

  double stretch(StretchId id) const {
    const ActivityOfWaiters::Sum sum = all.stretch(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.stretch(id));
  }
  double function(std::uint32_t id) const {
    const ActivityOfWaiters::Sum sum = all.function(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.function(id));
  }
  double waited_in(std::uint32_t id) const {
    const ActivityOfWaiters::Sum sum = all.waited(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.waited(id));
  }
  double mean(const ActivityOfWaiters::Sum& a) const { return std::max(0.0, a.at(place)) / waited; }
  double mean(const ActivityOfWaiters::Sum& a, const ActivityOfWaiters::Sum& b) const {
    return std::max(0.0, a.at(place) - b.at(place)) / waited;
  }
};

}  // namespace

void Comparison::run() {
  delays_.of_group.resize(log_.groups.size());
  std::size_t done = 0;
  for (const Moment& moment : delays_.moments) {
    if (++done % kMomentsAtOnce == 0) log_.memory.rest();
    if (moment.group()) {
      compare_group(moment.index());
    } else {
      compare_single(moment.index());
    }
  }
}

void Comparison::compare_single(WaitId number) {
  CauseLog::WaitRecord& wait = log_.waits[number];
  const LocationIndex location = location_of(wait);
  if (wait.by == kNoLocation || wait.by == location || wait.length == 0) {
    wait.known = CauseLog::Known::kNothing;
    return;
  }
  if (log_.is_direct(wait)) {
    direct_.of(wait, [&](std::uint32_t cost, Ticks begin, Ticks end) {
      ledger_.note_longer(cost, begin, end, end - begin, false);
    });
  } else {
    Ticks since = log_.moments.of_pair(location, wait.by);
    const Ticks late = log_.by_time(number);
    since = bounded(location, bounded(wait.by, since, late), wait.begin);
    idle_ = log_.is_idle(wait);
    compare_pair({wait.begin, location}, {late, wait.by}, since);
    idle_ = false;
  }
  log_.moments.waited(location, wait.by, wait.end);
}

void Comparison::compare_group(std::uint32_t index) {
  const CauseLog::Group& group = log_.groups[index];
  if (!group.waited) return log_.moments.came_together(group.id, group.last);
  order_.look_at(group);
  const std::vector<ArrivalRecord>& arrivals = order_.arrivals();
  std::vector<WaitId>& waiter = waiters_;
  waiter.assign(arrivals.size(), kNoWait);
  for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
    if (const std::size_t place = order_.place_of(location_of(log_.waits[w]));
        place != GroupOrder::kNoPlace) {
      waiter[place] = w;
    }
  }
  Ticks since = log_.moments.of_group(group.id);
  for (const ArrivalRecord& a : arrivals) since = bounded(a.location, since, a.time);
  since = std::min(since, arrivals.front().time);

  GroupDelays& of = delays_.of_group[index];
  of.since = since;
  all_waiters_.clear();
  const auto weight_of = [&](std::size_t i) {
    if (waiter[i] == kNoWait || arrivals[i].time >= group.last) return 0.0;
    return static_cast<double>(log_.waits[waiter[i]].length) /
           static_cast<double>(group.last - arrivals[i].time);
  };
  const auto later = [&](std::size_t i) {  // than the first
    return static_cast<double>(arrivals[i].time - arrivals.front().time);
  };
  weights_.resize(arrivals.size());
  ActivityOfWaiters::Sum waiters,
      enters;  // of those before: what they wait, and when they came
  for (std::size_t j = 0; j < arrivals.size(); ++j) {
    const LocationIndex late = arrivals[j].location;
    const double place = order_.shares()[j];
    const double weight = weights_[j] = weight_of(j);
    double waited = waiters.at(place), came = enters.at(place);
    if (waited >= 1 || weight > 0) {
      activity_.look_at(log_.timelines[late], log_.stretches, since, arrivals[j].time,
                        log_.idle_from(arrivals.front().time));
      log_.rest_after(activity_.pieces() + 2 * CauseLog::kPiecesOfWait);
    }
    if (waited >= 1) {
      excepted_.clear();
      partners_.clear();
      for (const CommonMoments::Partner& p : log_.moments.partners_since(late, since)) {
        if (p.time > since && order_.place_of(p.location) < j) partners_.push_back(p);
      }
      // (Sums of doubles depend on their order, and that of partners on what was long before.)
      std::sort(partners_.begin(), partners_.end(),
                [](const auto& a, const auto& b) { return a.location < b.location; });
      for (const CommonMoments::Partner& p : partners_) {
        const std::size_t i = order_.place_of(p.location);
        const double part = weights_[i] * (place - order_.shares()[i]);
        if (part < 1) continue;
        waited -= part;
        came -= part * later(i);
        waiter_.look_at(log_.timelines[p.location], log_.stretches, since, arrivals[i].time);
        excepted_.add(waiter_, weights_[i], order_.shares()[i]);
        delays_.pairs_within.push_back(
            {static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i), of.delays++});
        ++of.pairs;
        compare_pair(arrivals[i], arrivals[j], p.time);
      }
      if (waited >= 1) {
        const Culprit culprit{late, since, arrivals[j].time,
                              static_cast<Ticks>(std::max(later(j) - came / waited, 1.0))};
        const Delay delay =
            delay_of(culprit, activity_, MeanOf{all_waiters_, excepted_, place, waited});
        delays_.late_ones.push_back({delay.whole, arrivals[j].member, delay.shares});
        ++of.delays;
      }
    }
    if (weight > 0) {
      all_waiters_.add(activity_, weight, place);
      waiters.add(weight, place);
      enters.add(weight * later(j), place);
    }
  }
  log_.moments.came_together(group.id, group.last);
}

// Of one who waits and the late one, since a moment of their own.
void Comparison::compare_pair(const ArrivalRecord& waiter, const ArrivalRecord& late, Ticks since) {
  since = std::min({since, waiter.time, late.time});
  late_.look_at(log_.timelines[late.location], log_.stretches, since, late.time,
                log_.idle_from(waiter.time));
  waiter_.look_at(log_.timelines[waiter.location], log_.stretches, since, waiter.time);
  log_.rest_after(late_.pieces() + waiter_.pieces() + 2 * CauseLog::kPiecesOfWait);
  pair_.set(waiter_, log_.stretches);
  const Culprit culprit{late.location, since, late.time,
                        std::max(late.time - waiter.time, Ticks{1})};
  const Delay delay = delay_of(culprit, late_, pair_);
  delays_.pairs.push_back({delay.from, delay.whole, delay.shares});
}

template <class Those>
Delay Comparison::delay_of(const Culprit& culprit, const Activity& activity, const Those& those) {
  const std::size_t first = delays_.shares.size();
  // Function by function, then to its stretches that took longer.
  if (of_function_.size() < log_.stretches.functions()) {
    of_function_.resize(log_.stretches.functions());
  }
  const std::vector<Activity::Part>& parts = activity.parts();
  longer_.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto time = static_cast<double>(parts[i].time);
    longer_[i] = std::max(0.0, time - those.stretch(parts[i].stretch));
    OfFunction& function = of_function_[parts[i].function];
    function.time += parts[i].time;
    function.longer += longer_[i];
  }
  Ticks sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(longer_[i] > 0)) continue;
    const std::uint32_t f = parts[i].function;
    const double more = static_cast<double>(of_function_[f].time) - those.function(f);
    if (!(more >= 1)) continue;
    const auto weight = static_cast<Ticks>(more * (longer_[i] / of_function_[f].longer));
    if (weight < 1) continue;
    const std::uint32_t cost = ledger_.cost_of(culprit.location, parts[i].stretch);
    delays_.shares.push_back({cost, false, weight});
    sum += weight;
    if (!idle_) ledger_.note_longer(cost, culprit.from, culprit.to, weight, true);
  }
  for (const Activity::Part& part : parts) of_function_[part.function] = {};
  if (of_call_.size() < log_.stretches.size()) of_call_.resize(log_.stretches.size());
  bool any = false;
  for (const Activity::Part& call : activity.waits()) {
    const auto all = static_cast<double>(call.time);
    const double more = all - those.waited_in(call.function);
    of_call_[call.stretch] = {all, more};
    any = any || more >= 1;
  }
  if (any) {
    for (const Activity::Waited& waited : activity.waited()) {
      const OfCall& call = of_call_[waited.call];
      if (!(call.more >= 1)) continue;
      const auto weight =
          static_cast<Ticks>(call.more * (static_cast<double>(waited.time) / call.all));
      if (weight < 1) continue;
      sum += weight;
      if (delays_.shares.size() > first && delays_.shares.back().to_wait() &&
          delays_.shares.back().target() == waited.wait) {
        delays_.shares.back().add(weight);
      } else {
        delays_.shares.push_back({waited.wait, true, weight});
      }
    }
  }
  return {culprit.from, culprit.to, std::max({culprit.late_by, sum, Ticks{1}}), culprit.location,
          static_cast<std::uint32_t>(delays_.shares.size() - first)};
}

}  // namespace kojak::expert
