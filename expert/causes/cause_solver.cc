// Long because both passes over the waits stand here, which share all they know.
#include "expert/causes/cause_solver.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "expert/causes/sort_by.h"

namespace kojak::expert {
namespace {

constexpr std::size_t kItemsAtOnce = 1 << 16;  // between two times when what lies in files rests
constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

// What those did on the average who waited for the one at `place`, weighted with their waits.
struct MeanOf {
  const Reference &all, &less;  // of them, and of those of them who are left out
  double place, waited;
  bool nobody_left_out = less.empty();

  double stretch(StretchId id) const {
    const Reference::Sum sum = all.stretch(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.stretch(id));
  }
  double function(std::uint32_t id) const {
    const Reference::Sum sum = all.function(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.function(id));
  }
  double waited_in(std::uint32_t id) const {
    const Reference::Sum sum = all.waited(id);
    return nobody_left_out ? mean(sum) : mean(sum, less.waited(id));
  }
  double mean(const Reference::Sum& a) const { return std::max(0.0, a.at(place)) / waited; }
  double mean(const Reference::Sum& a, const Reference::Sum& b) const {
    return std::max(0.0, a.at(place) - b.at(place)) / waited;
  }
};

}  // namespace

RootCauses CauseSolver::solve(std::span<const CauseFinder::Asked> asked) {
  for (std::size_t l = 0; l < timelines_.size(); ++l) {
    timelines_[l].finish(c_.stretches_);
    std::vector<Start>& starts = c_.starts_[l];
    std::sort(starts.begin(), starts.end(),
              [](const Start& a, const Start& b) { return a.entered < b.entered; });
    timelines_[l].name_starts(starts);
  }
  place_waits();
  order_items();
  c_.memory_.rest();
  of_group_.resize(c_.groups_.size());
  std::size_t done = 0;
  for (const Item& item : items_) {
    if (++done % kItemsAtOnce == 0) c_.memory_.rest();
    if (item.group()) {
      compare_group(item.index());
    } else {
      compare_single(item.index());
    }
  }
  c_.memory_.rest();
  exceptions_left_ = exceptions_.size();
  late_ones_left_ = late_ones_.size();
  pairs_left_ = pairs_.size();
  shares_left_ = shares_.size();
  chains_.begin(asked);
  pass_back();
  c_.memory_.rest();
  RootCauses results;
  list(results);
  for (const CauseFinder::Asked& a : asked) results.asked.push_back(chains_.of(a));
  follow_critical_path(results);
  if (c_.full_) {
    Ticks end = 0;
    for (const Timeline& timeline : timelines_) end = std::max(end, timeline.end());
    results.until = chains_.seconds_at(end);
  }
  return results;
}

void CauseSolver::place_waits() {
  of_place_.resize(c_.places_.size());
  for (std::size_t p = 0; p < c_.places_.size(); ++p) {
    of_place_[p].call = c_.stretches_.call(c_.places_[p].call_path);
  }
  const auto all_placed = [](const Timeline& timeline) { return timeline.all_placed(); };
  if (!std::all_of(timelines_.begin(), timelines_.end(), all_placed)) place_anew();
}

void CauseSolver::place_anew() {
  // By location, in the order in which they were told.
  std::vector<std::size_t> first(timelines_.size() + 1);
  const auto has_its_place = [&](const WaitRecord& wait) {
    rest_after(kPiecesOfWait);
    return timelines_[location_of(wait)].all_placed();
  };
  for (const WaitRecord& w : waits_) {
    if (!has_its_place(w)) ++first[location_of(w) + 1];
  }
  for (std::size_t l = 0; l < timelines_.size(); ++l) first[l + 1] += first[l];
  LogVector<WaitSpan> spans(first.back(), c_.memory_);
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    if (has_its_place(waits_[w])) continue;
    spans[next[location_of(waits_[w])]++] = {waits_[w].begin, waits_[w].end, static_cast<WaitId>(w),
                                             of_place_[waits_[w].place].call, 0};
    rest_after(kPiecesOfWait);
  }
  for (std::size_t l = 0; l < timelines_.size(); ++l) {
    // By their begins, of equals by their ends.
    const auto own = std::span(spans.data() + first[l], first[l + 1] - first[l]);
    const auto earlier = [](const WaitSpan& a, const WaitSpan& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    };
    bool sorted = true;
    for (std::size_t i = 1; i < own.size() && sorted; ++i) {
      sorted = !earlier(own[i], own[i - 1]);
      rest_after(kPiecesOfWait);
    }
    if (!sorted && !insert_each(own, earlier)) {
      sort_by(own, c_.memory_, [](const WaitSpan& s) { return s.end; });
      sort_by(own, c_.memory_, [](const WaitSpan& s) { return s.begin; });
    }
    timelines_[l].carve(own);
    if (!sorted) sort_by(own, c_.memory_, [](const WaitSpan& s) { return s.wait; });
    rest_after(2 * timelines_[l].size() + kPiecesOfWait * own.size());
  }
  next.assign(first.begin(), first.end() - 1);
  for (WaitRecord& w : waits_) {
    if (has_its_place(w)) continue;
    w.length = spans[next[location_of(w)]++].found;
    rest_after(kPiecesOfWait);
  }
}

void CauseSolver::order_items() {
  // At equal times waits first, then groups, each in the order in which they were told.
  all_ = unexplained_ = c_.not_listed_;
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    all_ += own(waits_[w]);
    rest_after(kPiecesOfWait);
    if (waits_[w].known == Known::kOfGroup) continue;
    items_.push_back({static_cast<std::uint32_t>(w), false, waits_[w].end});
  }
  for (std::size_t g = 0; g < c_.groups_.size(); ++g) {
    items_.push_back({static_cast<std::uint32_t>(g), true, c_.groups_[g].last});
  }
  sort_by(items_, [](const Item& item) { return item.time(); });
}

void CauseSolver::compare_single(WaitId number) {
  WaitRecord& wait = waits_[number];
  const LocationIndex location = location_of(wait);
  if (wait.by == kNoLocation || wait.by == location || wait.length == 0) {
    wait.known = Known::kNothing;
    return;
  }
  if (wait.known == Known::kDirect) {
    direct_delay(wait, [&](std::uint32_t cost, Ticks begin, Ticks end) {
      note_longer(costs_[cost], begin, end, end - begin, false);
    });
  } else {
    Ticks since = c_.moments_.of_pair(location, wait.by);
    const Ticks late = c_.by_time(number);
    since = bounded(location, bounded(wait.by, since, late), wait.begin);
    idle_ = is_idle(wait);
    compare_pair({wait.begin, location}, {late, wait.by}, since);
    idle_ = false;
  }
  c_.moments_.waited(location, wait.by, wait.end);
}

void CauseSolver::look_at(const Group& group) {
  const std::vector<LocationIndex>& members = c_.moments_.members(group.id);
  arrivals_.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    arrivals_.push_back(
        {c_.presences_[group.first + i].enter, members[i], static_cast<std::uint32_t>(i)});
  }
  const auto earlier = [](const ArrivalRecord& a, const ArrivalRecord& b) {
    return a.time != b.time ? a.time < b.time : a.location < b.location;
  };
  if (!insert_each(std::span(arrivals_), earlier)) {
    std::sort(arrivals_.begin(), arrivals_.end(), earlier);
  }
  places_.assign(arrivals_.size(), 0);
  place_of_.resize(timelines_.size());
  for (std::size_t j = 0; j < arrivals_.size(); ++j) {
    place_of_[arrivals_[j].location] = static_cast<std::uint32_t>(j);
    if (j == 0) continue;
    places_[j] = places_[j - 1] + static_cast<double>(arrivals_[j].time - arrivals_[j - 1].time) /
                                      static_cast<double>(arrivals_.size() - j);
  }
}

std::size_t CauseSolver::place_of(LocationIndex location) const {
  const std::size_t place = place_of_[location];
  const bool member = place < arrivals_.size() && arrivals_[place].location == location;
  return member ? place : kNoPlace;
}

void CauseSolver::compare_group(std::uint32_t index) {
  const Group& group = c_.groups_[index];
  if (!group.waited) return c_.moments_.came_together(group.id, group.last);
  look_at(group);
  const std::vector<ArrivalRecord>& arrivals = arrivals_;
  std::vector<WaitId>& waiter = waiters_;
  waiter.assign(arrivals.size(), kNoWait);
  for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
    if (const std::size_t place = place_of(location_of(waits_[w])); place != kNoPlace) {
      waiter[place] = w;
    }
  }
  Ticks since = c_.moments_.of_group(group.id);
  for (const ArrivalRecord& a : arrivals) since = bounded(a.location, since, a.time);
  since = std::min(since, arrivals.front().time);

  OfGroup& of = of_group_[index];
  of.since = since;
  reference_.clear();
  const auto weight_of = [&](std::size_t i) {
    if (waiter[i] == kNoWait || arrivals[i].time >= group.last) return 0.0;
    return static_cast<double>(waits_[waiter[i]].length) /
           static_cast<double>(group.last - arrivals[i].time);
  };
  const auto later = [&](std::size_t i) {  // than the first
    return static_cast<double>(arrivals[i].time - arrivals.front().time);
  };
  weights_.resize(arrivals.size());
  Reference::Sum waiters,
      enters;  // of those before: what they wait, and when they came
  for (std::size_t j = 0; j < arrivals.size(); ++j) {
    const LocationIndex late = arrivals[j].location;
    const double place = places_[j];
    const double weight = weights_[j] = weight_of(j);
    double waited = waiters.at(place), came = enters.at(place);
    if (waited >= 1 || weight > 0) {
      doings_.look_at(timelines_[late], c_.stretches_, since, arrivals[j].time,
                      idle_from(arrivals.front().time));
      rest_after(doings_.pieces() + 2 * kPiecesOfWait);
    }
    if (waited >= 1) {
      excepted_.clear();
      for (const CommonMoments::Partner& p : c_.moments_.partners_since(late, since)) {
        const std::size_t i = place_of(p.location);
        if (p.time <= since || i == kNoPlace || i >= j) continue;
        const double part = weights_[i] * (place - places_[i]);
        if (part < 1) continue;
        waited -= part;
        came -= part * later(i);
        waiter_.look_at(timelines_[p.location], c_.stretches_, since, arrivals[i].time);
        excepted_.add(waiter_, weights_[i], places_[i]);
        exceptions_.push_back(
            {static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i), of.delays++});
        ++of.exceptions;
        compare_pair(arrivals[i], arrivals[j], p.time);
      }
      if (waited >= 1) {
        const Culprit culprit{late, since, arrivals[j].time,
                              static_cast<Ticks>(std::max(later(j) - came / waited, 1.0))};
        const Delay delay =
            delay_of(culprit, doings_, MeanOf{reference_, excepted_, place, waited});
        late_ones_.push_back({delay.whole, arrivals[j].member, delay.shares});
        ++of.delays;
      }
    }
    if (weight > 0) {
      reference_.add(doings_, weight, place);
      waiters.add(weight, place);
      enters.add(weight * later(j), place);
    }
  }
  c_.moments_.came_together(group.id, group.last);
}

// Of one who waits and the late one, since a moment of their own.
void CauseSolver::compare_pair(const ArrivalRecord& waiter, const ArrivalRecord& late,
                               Ticks since) {
  since = std::min({since, waiter.time, late.time});
  late_.look_at(timelines_[late.location], c_.stretches_, since, late.time, idle_from(waiter.time));
  waiter_.look_at(timelines_[waiter.location], c_.stretches_, since, waiter.time);
  rest_after(late_.pieces() + waiter_.pieces() + 2 * kPiecesOfWait);
  pair_.set(waiter_, c_.stretches_);
  const Culprit culprit{late.location, since, late.time,
                        std::max(late.time - waiter.time, Ticks{1})};
  const Delay delay = delay_of(culprit, late_, pair_);
  pairs_.push_back({delay.from, delay.whole, delay.shares});
}

template <class Those>
CauseSolver::Delay CauseSolver::delay_of(const Culprit& culprit, const Doings& doings,
                                         const Those& those) {
  const std::size_t first = shares_.size();
  // Function by function, then to its stretches that took longer.
  if (of_function_.size() < c_.stretches_.functions()) {
    of_function_.resize(c_.stretches_.functions());
  }
  const std::vector<Doings::Part>& parts = doings.parts();
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
    const std::uint32_t cost = cost_of(culprit.location, parts[i].stretch);
    shares_.push_back({cost, false, weight});
    sum += weight;
    note_longer(costs_[cost], culprit.from, culprit.to, weight, true);
  }
  for (const Doings::Part& part : parts) of_function_[part.function] = {};
  if (of_call_.size() < c_.stretches_.size()) of_call_.resize(c_.stretches_.size());
  bool any = false;
  for (const Doings::Part& call : doings.waits()) {
    const auto all = static_cast<double>(call.time);
    const double more = all - those.waited_in(call.function);
    of_call_[call.stretch] = {all, more};
    any = any || more >= 1;
  }
  if (any) {
    for (const Doings::Waited& waited : doings.waited()) {
      const OfCall& call = of_call_[waited.call];
      if (!(call.more >= 1)) continue;
      const auto weight =
          static_cast<Ticks>(call.more * (static_cast<double>(waited.time) / call.all));
      if (weight < 1) continue;
      sum += weight;
      if (shares_.size() > first && shares_.back().to_wait() &&
          shares_.back().target() == waited.wait) {
        shares_.back().add(weight);
      } else {
        shares_.push_back({waited.wait, true, weight});
      }
    }
  }
  return {culprit.from, culprit.to, std::max({culprit.late_by, sum, Ticks{1}}), culprit.location,
          static_cast<std::uint32_t>(shares_.size() - first)};
}

// Of intervals that overlap the same time counts once, however many waited in them: as much as
// there must be at least, so that there is enough in each of them.
void CauseSolver::note_longer(CostOf& cost, Ticks from, Ticks to, Ticks longer, bool compared) {
  if (idle_) return;
  constexpr std::size_t kKept = 16;
  cost.compared = cost.compared || compared;
  std::vector<Counted>& counted = cost.counted;
  auto after = counted.end();
  while (after != counted.begin() && from < (after - 1)->to) --after;
  const Ticks before = after != counted.begin()  ? (after - 1)->longer
                       : counted.size() == kKept ? counted.front().longer
                                                 : 0;
  const Ticks within = cost.longer - before;
  if (longer <= within) return;
  cost.longer += longer - within;
  if (!counted.empty() && to <= counted.back().to) {
    counted.back().longer = cost.longer;
    return;
  }
  if (counted.size() == kKept) counted.erase(counted.begin());
  counted.push_back({to, cost.longer});
}

void CauseSolver::pass_back() {
  std::size_t done = 0;
  for (std::size_t i = items_.size(); i-- > 0;) {
    const Item item = items_[i];
    if (++done % kItemsAtOnce == 0) c_.memory_.rest();
    if (item.group()) {
      pass_group(item.index());
      continue;
    }
    rest_after(2 * kPiecesOfWait);
    const WaitId w = item.index();
    const Received received = take(w);
    const WaitRecord& wait = waits_[w];
    const Waiting waiting{own(wait), received.amount};
    if (wait.known == Known::kNothing) {
      leave_unexplained(w, waiting.own + waiting.passed);
      note_indirect(w, 0);
      continue;
    }
    Delay delay;
    Shares shares;
    if (wait.known == Known::kDirect) {
      delay = direct_delay(wait, [](std::uint32_t, Ticks, Ticks) {});
      shares = direct_shares_;
    } else {
      delay = take_pair(wait.by, c_.by_time(w), shares);
    }
    if (chains_.wants(w)) follow(w, delay, shares);
    const Ticks waited = charge(delay, shares, wait.place, waiting, w, received.link_of(w));
    if (is_idle(wait) && received.amount != 0) {
      passed_by_idle_[w] = static_cast<Ticks>(std::min(received.amount, Amount{wait.length}));
      for (const Share& share : shares) {
        if (share.to_wait()) continue;
        passed_on_.push_back({share.target(), share.weight(), delay.from, delay.to});
      }
    }
    note_indirect(w, static_cast<Ticks>(share_of(own(wait), waited, delay.whole)));
  }
  std::reverse(passed_on_.begin(), passed_on_.end());
  for (const PassedOn& p : passed_on_) note_longer(costs_[p.cost], p.from, p.to, p.longer, true);
}

CauseSolver::Received& CauseSolver::received_of(WaitId wait) {
  std::uint32_t& number = waits_[wait].via;
  if (number == kNone && unused_ == kNone) {
    number = static_cast<std::uint32_t>(received_.size());
    received_.push_back({});
  } else if (number == kNone) {
    number = unused_;
    unused_ = received_[number].via.link.wait;
    received_[number] = {};
  }
  return received_[number];
}

CauseSolver::Received CauseSolver::take(WaitId wait) {
  waits_[wait].passed_on = true;
  std::uint32_t& number = waits_[wait].via;
  if (number == kNone) return {};
  const Received taken = received_[number];
  received_[number].via.link.wait = std::exchange(unused_, number);
  number = taken.via.link.wait;
  return taken;
}

CauseSolver::Delay CauseSolver::take_pair(LocationIndex culprit, Ticks to, Shares& shares) {
  const Pair& pair = pairs_[--pairs_left_];
  shares = take_shares(pair.shares);
  return {pair.from, to, pair.whole, culprit, pair.shares};
}

CauseSolver::Delay CauseSolver::take_late_one(const Group& group, const OfGroup& of,
                                              Shares& shares) {
  const LateOne& late = late_ones_[--late_ones_left_];
  shares = take_shares(late.shares);
  return {of.since, c_.presences_[group.first + late.member].enter, late.whole,
          c_.moments_.members(group.id)[late.member], late.shares};
}

void CauseSolver::take_delays(const Group& group, const OfGroup& of) {
  group_delays_.clear();
  pair_delays_.clear();
  const std::size_t first = exceptions_left_ - of.exceptions;
  for (std::uint32_t d = of.delays; d-- > 0;) {
    Shares shares;
    if (exceptions_left_ == first || exceptions_[exceptions_left_ - 1].delay != d) {
      const Delay delay = take_late_one(group, of, shares);
      group_delays_.push_back({place_of_[delay.culprit], kNone, delay, shares, 0});
      continue;
    }
    const Exception& e = exceptions_[--exceptions_left_];
    const ArrivalRecord& late = arrivals_[e.late];
    const Delay delay = take_pair(late.location, late.time, shares);
    pair_delays_.push_back({e.late, e.waiter, delay, shares, 0});
  }
  std::reverse(group_delays_.begin(), group_delays_.end());
  std::reverse(pair_delays_.begin(), pair_delays_.end());
}

void CauseSolver::pass_group(std::uint32_t index) {
  const Group& group = c_.groups_[index];
  if (!group.waited) return;
  look_at(group);
  take_delays(group, of_group_[index]);
  const std::vector<ArrivalRecord>& arrivals = arrivals_;
  const std::uint32_t what = waits_[group.first_wait].place;
  // Each waiter's amounts by the length of its wait, so that a place's difference is a part of it.
  std::vector<Rate>& rates = rates_;
  std::vector<WaitId>& waiter = waiters_;
  rates.assign(arrivals.size(), {});
  waiter.assign(arrivals.size(), kNoWait);
  to_pass_on_.resize(arrivals.size());
  links_.resize(arrivals.size());
  Waiting left;
  CauseChains::Link via;
  for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
    const Received received = take(w);
    const Ticks waited = waits_[w].length;
    if (w == group.first_wait) via = received.link_of(w);
    rest_after(2 * kPiecesOfWait);
    left.own += waited;
    left.passed += received.amount;
    const std::size_t place = place_of(location_of(waits_[w]));
    if (place == kNoPlace || arrivals[place].time >= group.last) continue;
    waiter[place] = w;
    to_pass_on_[place] = waited + received.amount;
    links_[place] = received.link_of(w);
    if (chains_.wants(w)) follow_group(w, place);
    const auto length = static_cast<double>(group.last - arrivals[place].time);
    rates[place] = {static_cast<double>(waited) / length,
                    static_cast<double>(received.amount) / length};
  }
  const auto give = [&](GroupDelay& d, std::uint32_t of, double own, double passed,
                        const CauseChains::Link& link) {
    const auto part = [](double wanted, Amount there) {
      return std::clamp(Amount{nearest_whole(std::max(wanted, 0.0))}, Amount{0}, there);
    };
    const Waiting given{part(own, left.own), part(passed, left.passed)};
    left.own -= given.own;
    left.passed -= given.passed;
    d.waited = charge(d.delay, d.shares, of, given, group.first_wait, link);
  };
  Rate all, behind;
  std::size_t next = 0;
  Amount most = -1;  // that one of those before has to pass on
  auto pair = pair_delays_.begin();
  for (GroupDelay& d : group_delays_) {
    for (; next < d.late; ++next) {
      all.own += rates[next].own;
      all.passed += rates[next].passed;
      behind.own += rates[next].own * places_[next];
      behind.passed += rates[next].passed * places_[next];
      if (waiter[next] == kNoWait || to_pass_on_[next] <= most) continue;
      most = to_pass_on_[next];
      via = links_[next];
    }
    double own = places_[d.late] * all.own - behind.own;
    double passed = places_[d.late] * all.passed - behind.passed;
    for (; pair != pair_delays_.end() && pair->late <= d.late; ++pair) {
      if (pair->late < d.late) continue;
      const double part = places_[d.late] - places_[pair->waiter];
      own -= rates[pair->waiter].own * part;
      passed -= rates[pair->waiter].passed * part;
    }
    give(d, what, own, passed, via);
  }
  for (GroupDelay& p : pair_delays_) {
    const double part = places_[p.late] - places_[p.waiter];
    give(p, waits_[waiter[p.waiter]].place, rates[p.waiter].own * part,
         rates[p.waiter].passed * part, links_[p.waiter]);
  }
  leave_unexplained(group.first_wait, left.own + left.passed);

  // Of each waiter: what part of the shares of those later than it was their own waiting.
  std::vector<double>&indirect = indirect_, &part_of = part_of_;
  indirect.assign(arrivals.size(), 0);
  part_of.assign(arrivals.size(), 0);
  for (const GroupDelay& d : group_delays_) part_of[d.late] = indirect_part(d);
  double parts = 0, further = 0;
  for (std::size_t i = arrivals.size(); i-- > 0;) {
    indirect[i] = rates[i].own * (further - parts * places_[i]);
    parts += part_of[i];
    further += part_of[i] * places_[i];
  }
  for (const GroupDelay& p : pair_delays_) {
    indirect[p.waiter] += rates[p.waiter].own * (places_[p.late] - places_[p.waiter]) *
                          (indirect_part(p) - part_of[p.late]);
  }
  for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
    const std::size_t place = place_of(location_of(waits_[w]));
    note_indirect(w, place == kNoPlace     ? 0
                     : indirect[place] > 0 ? nearest_whole(indirect[place])
                                           : 0);
  }
}

void CauseSolver::note_indirect(WaitId wait, Ticks indirect) {
  const WaitRecord& w = waits_[wait];
  if (is_idle(w)) return;
  indirect = std::clamp(indirect, Ticks{0}, w.length);
  OfPlace& of = of_place_[w.place];
  if (of.waits == kNone) {
    const CauseFinder::WaitPlace& place = c_.places_[w.place];
    of.waits = waits_numbers_.number(place.location, place.call_path);
    if (of.waits == waits_at_.size()) waits_at_.emplace_back();
    std::vector<Waits>& there = waits_at_[of.waits];
    auto sums = std::find_if(there.begin(), there.end(),
                             [&](const Waits& known) { return known.metric == place.metric; });
    if (sums == there.end()) sums = there.insert(there.end(), Waits{place.metric, 0, 0});
    of.row = static_cast<std::uint32_t>(sums - there.begin());
  }
  Waits& sums = waits_at_[of.waits][of.row];
  sums.direct += w.length - indirect;
  sums.indirect += indirect;
}

void CauseSolver::leave_unexplained(WaitId wait, Amount amount) {
  if (amount == 0) return;
  unexplained_ += amount;
  OfPlace& of = of_place_[waits_[wait].place];
  if (of.unexplained == kNone) {
    const CauseFinder::WaitPlace& place = c_.places_[waits_[wait].place];
    of.unexplained = unexplained_numbers_.number(place.location, place.call_path);
    if (of.unexplained == unexplained_at_.size()) unexplained_at_.push_back(0);
  }
  unexplained_at_[of.unexplained] += amount;
}

Ticks CauseSolver::charge(const Delay& delay, Shares shares, std::uint32_t what, Waiting waiting,
                          WaitId wait, const CauseChains::Link& via) {
  Amount left = waiting.own + waiting.passed;
  Ticks waited = 0;
  for (const Share& share : shares) {
    const Ticks weight = share.weight();
    if (share.to_wait()) waited += weight;
    const Amount own = share_of(waiting.own, weight, delay.whole);
    const Amount passed = waiting.passed == 0 ? 0 : share_of(waiting.passed, weight, delay.whole);
    left -= own + passed;
    if (share.to_wait() && !waits_[share.target()].passed_on) {
      Received& received = received_of(share.target());
      received.amount += own + passed;
      CauseChains::note(received.via, static_cast<double>(own + passed), via);
      continue;
    }
    // (A wait that ends after those who waited for it: its own causes are told already.)
    CostOf& of = costs_[share.to_wait() ? cost_of_call(share.target()) : share.target()];
    Cost& cost = of_pattern(of, c_.places_[what].metric);
    cost.short_term += own;
    cost.long_term += passed;
    add_object(of, what, own);
    if (CauseChains::note(of.via, static_cast<double>(own + passed), via)) of.to = delay.to;
  }
  leave_unexplained(wait, left);
  return waited;
}

CauseSolver::Cost& CauseSolver::of_pattern(CostOf& cost, MetricIndex metric) {
  for (auto& [known, sums] : cost.patterns) {
    if (known == metric) return sums;
  }
  return cost.patterns.emplace_back(metric, Cost{}).second;
}

void CauseSolver::add_object(CostOf& cost, std::uint32_t what, Amount amount) const {
  constexpr std::size_t kKept = 16;  // of a cause that is one at more of them, the first
  const CauseFinder::WaitPlace& place = c_.places_[what];
  if (place.object == Operation::Object::kNothing || amount == 0) return;
  for (auto& [known, sum] : cost.objects) {
    const CauseFinder::WaitPlace& other = c_.places_[known];
    if (other.object != place.object || other.object_id != place.object_id) continue;
    sum += amount;
    return;
  }
  if (cost.objects.size() < kKept) cost.objects.emplace_back(what, amount);
}

void CauseSolver::follow(WaitId wait, const Delay& delay, Shares shares) {
  const auto most =
      std::max_element(shares.begin(), shares.end(),
                       [](const Share& a, const Share& b) { return a.weight() < b.weight(); });
  if (most == shares.end() || most->weight() <= 0) return;
  const std::uint32_t target = most->target();
  const bool on = most->to_wait() && !waits_[target].passed_on;
  const StretchId stretch =
      most->to_wait() ? of_place_[waits_[target].place].call : costs_[target].stretch;
  chains_.follow(wait, {delay.culprit, on, on ? target : stretch, delay.to});
}

// The one of a group that came last is what most of each wait was for.
void CauseSolver::follow_group(WaitId wait, std::size_t place) {
  const GroupDelay* latest = nullptr;
  std::size_t late = place;
  for (const GroupDelay& p : pair_delays_) {
    if (p.waiter != place || p.late <= late) continue;
    late = p.late;
    latest = &p;
  }
  for (const GroupDelay& d : group_delays_) {
    if (d.late <= late) continue;
    late = d.late;
    latest = &d;
  }
  if (latest != nullptr) follow(wait, latest->delay, latest->shares);
}

void CauseSolver::list(RootCauses& results) {
  results.waits = in_seconds(all_);
  results.unexplained = in_seconds(unexplained_);
  for (std::size_t i = 0; i < unexplained_at_.size(); ++i) {
    results.unexplained_at.push_back({unexplained_numbers_.location(i),
                                      unexplained_numbers_.what(i),
                                      in_seconds(unexplained_at_[i])});
  }
  for (std::size_t i = 0; i < waits_at_.size(); ++i) {
    for (const Waits& w : waits_at_[i]) {
      results.waits_at.push_back({waits_numbers_.location(i), waits_numbers_.what(i), w.metric,
                                  in_seconds(w.direct), in_seconds(w.indirect)});
    }
  }
  std::vector<ListedCause> listed;
  for (std::uint32_t number = 0; number < costs_.size(); ++number) {
    const CostOf& cost = costs_[number];
    RootCause cause;
    cause.location = cost.location;
    cause.id = cost.stretch;
    cause.stretch = c_.stretches_[cause.id];
    cause.longer = in_seconds(Amount{cost.longer});
    cause.compared = cost.compared;
    Amount sum = 0;
    for (const auto& [metric, part] : cost.patterns) {
      sum += part.short_term + part.long_term;
      cause.patterns.push_back({metric, in_seconds(part.short_term), in_seconds(part.long_term)});
    }
    if (sum == 0) continue;
    cause.seconds = in_seconds(sum);
    for (const auto& [what, amount] : cost.objects) {
      const CauseFinder::WaitPlace& place = c_.places_[what];
      cause.objects.push_back({place.object, place.object_id, in_seconds(amount)});
    }
    std::sort(cause.patterns.begin(), cause.patterns.end(),
              [](const CostOfPattern& a, const CostOfPattern& b) {
                const double x = a.short_term + a.long_term, y = b.short_term + b.long_term;
                return x != y ? x > y : a.metric < b.metric;
              });
    std::stable_sort(
        cause.objects.begin(), cause.objects.end(),
        [](const CostOfObject& a, const CostOfObject& b) { return a.seconds > b.seconds; });
    listed.push_back({std::move(cause), number});
  }
  const auto sort = [](std::span<ListedCause> causes) {
    std::sort(causes.begin(), causes.end(), [](const ListedCause& x, const ListedCause& y) {
      const RootCause &a = x.cause, &b = y.cause;
      if (a.gain != b.gain) return a.gain > b.gain;
      if (a.seconds != b.seconds) return a.seconds > b.seconds;
      return std::tuple(a.location, a.stretch.path, a.stretch.before, a.stretch.after) <
             std::tuple(b.location, b.stretch.path, b.stretch.before, b.stretch.after);
    });
  };
  sort(listed);
  std::vector<StretchId> computing;
  std::vector<bool> known(c_.stretches_.size());
  for (const ListedCause& l : listed) {
    const StretchId stretch = l.cause.id;
    if (l.cause.stretch.kind != Stretch::Kind::kComputing || known[stretch]) continue;
    if (computing.size() == kStretches) break;
    known[stretch] = true;
    computing.push_back(stretch);
  }
  list_samples(listed, list_times(results, computing));
  const std::span<ListedCause> largest =
      std::span(listed).first(std::min(listed.size(), kMostGains));
  find_groups(listed, largest, results.groups);
  sort(largest);
  number_causes(listed, results.groups);
  std::size_t room = kAllLinks;
  for (ListedCause& l : listed) {
    const StretchId stretch = l.cause.id;
    if (results.causes.size() < kChains) {
      l.cause.chain = chains_.to_cause(l.cause.location, stretch, costs_[l.cost].via,
                                       costs_[l.cost].to, std::min(room, CauseChains::kMostLinks));
      room -= l.cause.chain.links.size();
      // Chains lie anywhere in the logs: memory gets what lies around them, too.
      constexpr std::size_t kPiecesOfChain = 8192, kPiecesOfLink = 256;
      rest_after(kPiecesOfChain + kPiecesOfLink * l.cause.chain.links.size());
    }
    results.causes.push_back(std::move(l.cause));
  }
}

CauseSolver::Doers CauseSolver::list_times(RootCauses& results,
                                           const std::vector<StretchId>& wanted) {
  constexpr std::size_t kNotWanted = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(c_.stretches_.size(), kNotWanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) place[wanted[i]] = i;
  std::vector<std::vector<StretchTime>> times(wanted.size());
  done_.assign(c_.stretches_.size(), 0);
  std::vector<Ticks> sums(c_.stretches_.size(), 0);
  std::vector<StretchId> used;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) {
    timelines_[l].each([&](const Piece& piece, Ticks length) {
      rest_after(1);
      if (piece.wait != kNoWait) return;
      if (sums[piece.stretch] == 0) used.push_back(piece.stretch);
      sums[piece.stretch] += length;
    });
    for (const StretchId k : used) {
      done_[k] += sums[k];
      if (place[k] != kNotWanted) {
        times[place[k]].push_back({c_.stretches_[k], l, in_seconds(Amount{sums[k]})});
        times_[std::uint64_t{l} << 32 | k] = in_seconds(Amount{sums[k]});
      }
      sums[k] = 0;
    }
    used.clear();
  }
  Doers doers;
  for (std::size_t i = 0; i < times.size(); ++i) {
    results.times.insert(results.times.end(), times[i].begin(), times[i].end());
    doers.emplace(wanted[i], times[i].size());
  }
  return doers;
}

// Of each location's samples in the stretches those at places, and what the others have there.
void CauseSolver::list_samples(std::span<ListedCause> listed, const Doers& doers) const {
  if (c_.samples_.empty()) return;
  struct Places {
    std::map<CallSiteId, std::uint64_t> all;
    std::map<LocationIndex, std::map<CallSiteId, std::uint64_t>> of_location;
  };
  std::unordered_map<StretchId, Places> found;
  for (const CauseFinder::SampleRecord& s : c_.samples_) {
    const Piece* piece = timelines_[s.location].before(s.time);
    if (piece == nullptr || !doers.contains(piece->stretch)) continue;
    Places& places = found[piece->stretch];
    places.all[s.site] += s.count;
    places.of_location[s.location][s.site] += s.count;
  }
  for (ListedCause& l : listed) {
    RootCause& cause = l.cause;
    const auto at = found.find(cause.id);
    if (at == found.end()) continue;
    const auto own = at->second.of_location.find(cause.location);
    if (own == at->second.of_location.end()) continue;
    const auto others = static_cast<double>(doers.at(cause.id)) - 1;
    for (const auto& [site, count] : own->second) {
      const std::uint64_t rest = at->second.all[site] - count;
      cause.sampled.push_back(
          {site, static_cast<double>(count), others > 0 ? static_cast<double>(rest) / others : 0});
    }
  }
}

// After list(), which sums up what the locations do.
void CauseSolver::follow_critical_path(RootCauses& results) {
  LocationIndex at = 0;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) {
    if (timelines_[l].end() > timelines_[at].end()) at = l;
  }
  if (timelines_.empty()) return;
  Ticks time = timelines_[at].end();
  results.path_length = in_seconds(Amount{time});
  PlaceNumbers numbers;
  std::vector<Amount> shares;
  constexpr std::size_t kPiecesOfJump = 1024;  // memory gets what lies around them, too
  std::size_t jumps = 0;                       // since time moved last
  bool all_parts = true;                       // so far
  while (const Piece* piece = timelines_[at].before(time)) {
    if (piece->wait != kNoWait && jumps <= timelines_.size()) {
      const WaitRecord& wait = waits_[piece->wait];
      if (wait.by != kNoLocation && wait.by != at && time <= wait.end) {
        at = wait.by;
        ++jumps;
        rest_after(kPiecesOfJump);
        time = std::min(time, timelines_[at].end());
        continue;
      }
    }
    const Ticks begin = timelines_[at].begin_of(*piece);
    if (all_parts) {
      std::vector<PathPart>& parts = results.path_parts;
      if (!parts.empty() && parts.back().location == at) {
        parts.back().begin = chains_.seconds_at(begin);
      } else if (parts.size() < kPathParts) {
        parts.push_back({at, chains_.seconds_at(begin), chains_.seconds_at(time)});
      } else {
        all_parts = false;  // what comes back to the earliest one is another part
      }
    }
    const std::uint32_t number = numbers.number(at, piece->stretch);
    if (number == shares.size()) shares.push_back(0);
    shares[number] += time - begin;
    rest_after(1);
    time = begin;
    jumps = 0;
    // Before a thread's team was made it had nothing to do but to wait for that.
    const std::vector<Start>& starts = c_.starts_[at];
    const auto start = std::lower_bound(starts.begin(), starts.end(), begin,
                                        [](const Start& s, Ticks t) { return s.made < t; });
    if (start != starts.end() && start->made == begin && begin <= timelines_[start->master].end()) {
      at = start->master;
    }
  }
  std::reverse(results.path_parts.begin(), results.path_parts.end());
  // What the processes do of each stretch on the average, and what of it is on the path.
  std::vector<Amount> on_path(c_.stretches_.size(), 0);
  for (std::size_t i = 0; i < shares.size(); ++i) on_path[numbers.what(i)] += shares[i];
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const StretchId stretch = numbers.what(i);
    const double mean = in_seconds(done_[stretch]) / static_cast<double>(timelines_.size());
    const double path = in_seconds(on_path[stretch]), seconds = in_seconds(shares[i]);
    results.critical_path.push_back({numbers.location(i), c_.stretches_[stretch], seconds,
                                     seconds * std::max(0.0, 1 - mean / path)});
  }
  std::sort(results.critical_path.begin(), results.critical_path.end(),
            [](const PathShare& a, const PathShare& b) {
              if (a.seconds != b.seconds) return a.seconds > b.seconds;
              return std::tuple(a.location, a.stretch.path, a.stretch.before, a.stretch.after) <
                     std::tuple(b.location, b.stretch.path, b.stretch.before, b.stretch.after);
            });
}

}  // namespace kojak::expert
