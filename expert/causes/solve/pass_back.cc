#include "expert/causes/solve/pass_back.h"

#include <algorithm>
#include <utility>

namespace kojak::expert {

namespace {

// What took longer while a dispatcher was idle, where others waited for that: known on the way
// back only.
struct PassedOn {
  std::uint32_t cost;
  Ticks longer, from, to;
};

}  // namespace

void PassBack::run() {
  std::size_t done = 0;
  std::vector<PassedOn> passed_on;
  for (std::size_t i = delays_.moments.size(); i-- > 0;) {
    const Moment moment = delays_.moments[i];
    if (++done % kMomentsAtOnce == 0) log_.memory.rest();
    if (moment.group()) {
      pass_group(moment.index());
      continue;
    }
    log_.rest_after(2 * CauseLog::kPiecesOfWait);
    const WaitId w = moment.index();
    const Received received = take(w);
    const CauseLog::WaitRecord& wait = log_.waits[w];
    const Waiting waiting{log_.own(wait), received.amount};
    if (wait.known == CauseLog::Known::kNothing) {
      ledger_.leave_unexplained(w, waiting.own + waiting.passed);
      ledger_.note_indirect(w, 0);
      continue;
    }
    Delay delay;
    Shares shares;
    if (log_.is_direct(wait)) {
      delay = direct_.of(wait, [](std::uint32_t, Ticks, Ticks) {});
      shares = direct_.shares();
    } else {
      delay = take_pair(wait.by, log_.by_time(w), shares);
    }
    if (chains_.wants(w)) follow(w, delay, shares);
    const Ticks waited = charge(delay, shares, wait.place, waiting, w, received.link_of(w));
    if (log_.is_idle(wait) && received.amount != 0) {
      ledger_.note_passed_by_idle(
          w, static_cast<Ticks>(std::min(received.amount, Amount{wait.length})));
      for (const Share& share : shares) {
        if (share.to_wait()) continue;
        passed_on.push_back({share.target(), share.weight(), delay.from, delay.to});
      }
    }
    ledger_.note_indirect(w, static_cast<Ticks>(share_of(log_.own(wait), waited, delay.whole)));
  }
  std::reverse(passed_on.begin(), passed_on.end());
  for (const PassedOn& p : passed_on) ledger_.note_longer(p.cost, p.from, p.to, p.longer, true);
}

PassBack::Received& PassBack::received_of(WaitId wait) {
  std::uint32_t& number = log_.waits[wait].via;
  if (number == CauseLedger::kNone && unused_ == CauseLedger::kNone) {
    number = static_cast<std::uint32_t>(received_.size());
    received_.push_back({});
  } else if (number == CauseLedger::kNone) {
    number = unused_;
    unused_ = received_[number].via.link.wait;
    received_[number] = {};
  }
  return received_[number];
}

PassBack::Received PassBack::take(WaitId wait) {
  log_.waits[wait].passed_on = true;
  std::uint32_t& number = log_.waits[wait].via;
  if (number == CauseLedger::kNone) return {};
  const Received taken = received_[number];
  received_[number].via.link.wait = std::exchange(unused_, number);
  number = taken.via.link.wait;
  return taken;
}

Delay PassBack::take_pair(LocationIndex culprit, Ticks to, Shares& shares) {
  const PairDelay& pair = delays_.pairs[--pairs_left_];
  shares = take_shares(pair.shares);
  return {pair.from, to, pair.whole, culprit, pair.shares};
}

Delay PassBack::take_late_one(const CauseLog::Group& group, const GroupDelays& of, Shares& shares) {
  const LateOne& late = delays_.late_ones[--late_ones_left_];
  shares = take_shares(late.shares);
  return {of.since, log_.presences[group.first + late.member].enter, late.whole,
          log_.moments.members(group.id)[late.member], late.shares};
}

void PassBack::take_delays(const CauseLog::Group& group, const GroupDelays& of) {
  group_delays_.clear();
  pair_delays_.clear();
  const std::size_t first = within_left_ - of.pairs;
  for (std::uint32_t d = of.delays; d-- > 0;) {
    Shares shares;
    if (within_left_ == first || delays_.pairs_within[within_left_ - 1].delay != d) {
      const Delay delay = take_late_one(group, of, shares);
      group_delays_.push_back({static_cast<std::uint32_t>(order_.place_of(delay.culprit)),
                               CauseLedger::kNone, delay, shares, 0});
      continue;
    }
    const PairWithin& e = delays_.pairs_within[--within_left_];
    const ArrivalRecord& late = order_.arrivals()[e.late];
    const Delay delay = take_pair(late.location, late.time, shares);
    pair_delays_.push_back({e.late, e.waiter, delay, shares, 0});
  }
  std::reverse(group_delays_.begin(), group_delays_.end());
  std::reverse(pair_delays_.begin(), pair_delays_.end());
}

void PassBack::pass_group(std::uint32_t index) {
  const CauseLog::Group& group = log_.groups[index];
  if (!group.waited) return;
  order_.look_at(group);
  take_delays(group, delays_.of_group[index]);
  const std::vector<ArrivalRecord>& arrivals = order_.arrivals();
  const std::uint32_t what = log_.waits[group.first_wait].place;
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
    const Ticks waited = log_.waits[w].length;
    if (w == group.first_wait) via = received.link_of(w);
    log_.rest_after(2 * CauseLog::kPiecesOfWait);
    left.own += waited;
    left.passed += received.amount;
    const std::size_t place = order_.place_of(location_of(log_.waits[w]));
    if (place == GroupOrder::kNoPlace || arrivals[place].time >= group.last) continue;
    waiter[place] = w;
    to_pass_on_[place] = waited + received.amount;
    links_[place] = received.link_of(w);
    if (chains_.wants(w)) follow_group(w, place);
    const auto length = static_cast<double>(group.last - arrivals[place].time);
    rates[place] = {static_cast<double>(waited) / length,
                    static_cast<double>(received.amount) / length};
  }
  const auto give = [&](DelayInGroup& d, std::uint32_t of, double own, double passed,
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
  for (DelayInGroup& d : group_delays_) {
    for (; next < d.late; ++next) {
      all.own += rates[next].own;
      all.passed += rates[next].passed;
      behind.own += rates[next].own * order_.shares()[next];
      behind.passed += rates[next].passed * order_.shares()[next];
      if (waiter[next] == kNoWait || to_pass_on_[next] <= most) continue;
      most = to_pass_on_[next];
      via = links_[next];
    }
    double own = order_.shares()[d.late] * all.own - behind.own;
    double passed = order_.shares()[d.late] * all.passed - behind.passed;
    for (; pair != pair_delays_.end() && pair->late <= d.late; ++pair) {
      if (pair->late < d.late) continue;
      const double part = order_.shares()[d.late] - order_.shares()[pair->waiter];
      own -= rates[pair->waiter].own * part;
      passed -= rates[pair->waiter].passed * part;
    }
    give(d, what, own, passed, via);
  }
  for (DelayInGroup& p : pair_delays_) {
    const double part = order_.shares()[p.late] - order_.shares()[p.waiter];
    give(p, log_.waits[waiter[p.waiter]].place, rates[p.waiter].own * part,
         rates[p.waiter].passed * part, links_[p.waiter]);
  }
  ledger_.leave_unexplained(group.first_wait, left.own + left.passed);

  // Of each waiter: what part of the shares of those later than it was their own waiting.
  std::vector<double>&indirect = indirect_, &part_of = part_of_;
  indirect.assign(arrivals.size(), 0);
  part_of.assign(arrivals.size(), 0);
  for (const DelayInGroup& d : group_delays_) part_of[d.late] = indirect_part(d);
  double parts = 0, further = 0;
  for (std::size_t i = arrivals.size(); i-- > 0;) {
    indirect[i] = rates[i].own * (further - parts * order_.shares()[i]);
    parts += part_of[i];
    further += part_of[i] * order_.shares()[i];
  }
  for (const DelayInGroup& p : pair_delays_) {
    indirect[p.waiter] += rates[p.waiter].own *
                          (order_.shares()[p.late] - order_.shares()[p.waiter]) *
                          (indirect_part(p) - part_of[p.late]);
  }
  for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
    const std::size_t place = order_.place_of(location_of(log_.waits[w]));
    ledger_.note_indirect(w, place == GroupOrder::kNoPlace ? 0
                             : indirect[place] > 0         ? nearest_whole(indirect[place])
                                                           : 0);
  }
}

Ticks PassBack::charge(const Delay& delay, Shares shares, std::uint32_t what, Waiting waiting,
                       WaitId wait, const CauseChains::Link& via) {
  Amount left = waiting.own + waiting.passed;
  Ticks waited = 0;
  for (const Share& share : shares) {
    const Ticks weight = share.weight();
    if (share.to_wait()) waited += weight;
    const Amount own = share_of(waiting.own, weight, delay.whole);
    const Amount passed = waiting.passed == 0 ? 0 : share_of(waiting.passed, weight, delay.whole);
    left -= own + passed;
    if (share.to_wait() && !log_.waits[share.target()].passed_on) {
      Received& received = received_of(share.target());
      received.amount += own + passed;
      CauseChains::note(received.via, static_cast<double>(own + passed), via);
      continue;
    }
    // (A wait that ends after those who waited for it: its own causes are told already.)
    CauseLedger::Sums& of =
        ledger_[share.to_wait() ? ledger_.cost_of_call(share.target()) : share.target()];
    CauseLedger::Cost& cost = ledger_.of_pattern(of.patterns, log_.places[what].metric);
    cost.short_term += own;
    cost.long_term += passed;
    ledger_.add_direct(of, what, own);
    if (!CauseChains::note(of.via, static_cast<double>(own + passed), via)) continue;
    of.from = delay.from;
    of.to = delay.to;
  }
  ledger_.leave_unexplained(wait, left);
  return waited;
}

void PassBack::follow(WaitId wait, const Delay& delay, Shares shares) {
  const auto most =
      std::max_element(shares.begin(), shares.end(),
                       [](const Share& a, const Share& b) { return a.weight() < b.weight(); });
  if (most == shares.end() || most->weight() <= 0) return;
  const std::uint32_t target = most->target();
  const bool on = most->to_wait() && !log_.waits[target].passed_on;
  const StretchId stretch =
      most->to_wait() ? ledger_.call_of(log_.waits[target]) : ledger_[target].stretch;
  chains_.follow(wait, {delay.culprit, on, on ? target : stretch, delay.from, delay.to});
}

// The one of a group that came last is what most of each wait was for.
void PassBack::follow_group(WaitId wait, std::size_t place) {
  const DelayInGroup* latest = nullptr;
  std::size_t late = place;
  for (const DelayInGroup& p : pair_delays_) {
    if (p.waiter != place || p.late <= late) continue;
    late = p.late;
    latest = &p;
  }
  for (const DelayInGroup& d : group_delays_) {
    if (d.late <= late) continue;
    late = d.late;
    latest = &d;
  }
  if (latest != nullptr) follow(wait, latest->delay, latest->shares);
}

}  // namespace kojak::expert
