// What a part of the run would gain without some things: CausePart finds what to leave out of it,
// and hands it to GainFinder.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "expert/causes/cause_part.h"
#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {

// What of which cause is a thing's, and who waited for whom.
class CausePart::SumsOfThings {
 public:
  SumsOfThings(const CausePart& part, const LeftOutThings& things, std::vector<ThingSums>& sums)
      : part_(part), things_(things), sums_(sums), waits_(things.things), pairs_(things.things) {
    sums.resize(things.things);
    for (std::size_t t = things.summed; t < things.things; ++t) {
      waits_[t].resize(part.timelines_.size());
    }
  }
  // So much of a delay is the thing's. Of those who waited for the last of a group note_group()
  // says who they are.
  void note(std::size_t thing, const Delay& delay, Ticks weight, const DelayOf& of);
  void note_group(const Group& group);
  void finish();

 private:
  // Of the group of processes that is looked at: parts of delays that are a thing's.
  struct Late {
    std::size_t thing;
    std::uint32_t late, waiter;
    double part;
  };
  const CausePart& part_;
  const LeftOutThings& things_;
  std::vector<ThingSums>& sums_;
  std::vector<std::vector<Amount>> waits_;                        // by thing and location
  std::vector<std::unordered_map<std::uint64_t, Amount>> pairs_;  // by culprit and victim
  std::vector<Late> late_;
};

void CausePart::SumsOfThings::note(std::size_t thing, const Delay& delay, Ticks weight,
                                   const DelayOf& of) {
  sums_[thing].begin = std::min(sums_[thing].begin, delay.from);
  if (of.item.group()) {
    const double part = static_cast<double>(weight) / static_cast<double>(delay.whole);
    late_.push_back({thing, of.late, of.waiter, part});
    return;
  }
  const WaitRecord& wait = part_.waits_[of.item.index()];
  const LocationIndex victim = part_.location_of(wait);
  const Amount amount = share_of(part_.log_.own(wait), weight, delay.whole);
  waits_[thing][victim] += amount;
  if (things_.without_pairs[thing] == 0) {
    pairs_[thing][std::uint64_t{delay.culprit} << 32 | victim] += amount;
  }
}

void CausePart::SumsOfThings::note_group(const Group& group) {
  if (late_.empty()) return;
  const std::vector<ArrivalRecord>& arrivals = part_.order_.arrivals();
  const std::vector<double>& places = part_.order_.shares();
  std::stable_sort(late_.begin(), late_.end(),
                   [](const Late& a, const Late& b) { return a.thing < b.thing; });
  std::vector<double> of(arrivals.size());
  for (std::size_t first = 0; first < late_.size();) {
    const std::size_t thing = late_[first].thing;
    std::size_t last = first;
    std::fill(of.begin(), of.end(), 0.0);
    for (; last < late_.size() && late_[last].thing == thing; ++last) {
      if (late_[last].waiter == kNone) of[late_[last].late] += late_[last].part;
    }
    // Of those who waited: how much of a second of theirs, between their coming and the last's.
    std::vector<double> waits(arrivals.size());
    double parts = 0, further = 0;
    for (std::size_t i = arrivals.size(); i-- > 0;) {
      waits[i] = further - parts * places[i];
      parts += of[i];
      further += of[i] * places[i];
    }
    for (std::size_t e = first; e < last; ++e) {
      const Late& l = late_[e];
      if (l.waiter != kNone)
        waits[l.waiter] += (l.part - of[l.late]) * (places[l.late] - places[l.waiter]);
    }
    for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
      const WaitRecord& wait = part_.waits_[w];
      const std::size_t place = part_.order_.place_of(part_.location_of(wait));
      if (place == kNone || place >= arrivals.size() || arrivals[place].time >= group.last)
        continue;
      const double rate =
          static_cast<double>(wait.length) / static_cast<double>(group.last - arrivals[place].time);
      waits_[thing][arrivals[place].location] +=
          std::max<Ticks>(nearest_whole(rate * waits[place]), 0);
    }
    first = last;
  }
  late_.clear();
}

void CausePart::SumsOfThings::finish() {
  for (std::size_t t = things_.summed; t < things_.things; ++t) {
    for (LocationIndex l = 0; l < waits_[t].size(); ++l) {
      if (waits_[t][l] > 0) sums_[t].waits.emplace_back(l, waits_[t][l]);
    }
    for (const auto& [key, amount] : pairs_[t]) {
      sums_[t].pairs.push_back(
          {static_cast<LocationIndex>(key >> 32), static_cast<LocationIndex>(key), amount});
    }
  }
}

void CausePart::leave_out(const LeftOutThings& things, std::vector<ThingSums>& sums) {
  // By cost what is whose.
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  const auto key_of = [](LocationIndex location, StretchId stretch) {
    return std::uint64_t{location} << 32 | stretch;
  };
  std::vector<std::vector<const LeftOutThings::Use*>> uses;
  std::vector<bool> culprits(timelines_.size());
  for (const LeftOutThings::Use& use : things.uses) {
    const auto [known, added] = numbers.try_emplace(key_of(use.location, use.stretch),
                                                    static_cast<std::uint32_t>(uses.size()));
    if (added) uses.emplace_back();
    uses[known->second].push_back(&use);
    culprits[use.location] = true;
  }
  std::vector<std::uint32_t> uses_at(ledger_.size(), kNone);
  for (std::uint32_t cost = 0; cost < ledger_.size(); ++cost) {
    const auto known = numbers.find(key_of(ledger_[cost].location, ledger_[cost].stretch));
    if (known != numbers.end()) uses_at[cost] = known->second;
  }
  std::vector<LogVector<TookLonger>> times;
  for (std::size_t i = 0; i < things.things; ++i) times.emplace_back(log_.memory, true);
  std::vector<std::size_t> last(things.things);
  std::size_t number = 0;  // of the delay, from 1
  SumsOfThings sums_of(*this, things, sums);
  const auto look_at = [&](const Delay& delay, Shares shares, const DelayOf& of) {
    ++number;
    for (const Share& share : shares) {
      if (share.to_wait() || uses_at[share.target()] == kNone) continue;
      for (const LeftOutThings::Use* const use : uses[uses_at[share.target()]]) {
        const auto weight = static_cast<Ticks>(share_of(share.weight(), use->part, use->whole));
        if (weight == 0) continue;
        // (While a lock was held or a target outside MPI, it may have done it several times.)
        LogVector<TookLonger>& took = times[use->thing];
        if (last[use->thing] == number) {
          took.back().longer += weight;
        } else {
          took.push_back({delay.from, delay.to, weight, delay.culprit});
          log_.rest_after(kPiecesOfWait);
        }
        last[use->thing] = number;
        if (use->thing >= things.summed) sums_of.note(use->thing, delay, weight, of);
      }
    }
  };
  each_delay(culprits, look_at, [&](const Group& group) { sums_of.note_group(group); });
  sums_of.finish();
  // What follows may have their place in files.
  delays_.drop();
  gains_.emplace(timelines_.size(), log_.memory);
  std::vector<bool> stretches(log_.stretches.size());
  auto use = things.uses.begin();
  for (std::uint32_t thing = 0; thing < things.things; ++thing) {
    std::map<LocationIndex, std::vector<StretchId>> of_thing;
    for (; use != things.uses.end() && use->thing == thing; ++use) {
      of_thing[use->location].push_back(use->stretch);
    }
    sort_by(times[thing], [](const TookLonger& t) { return t.location; });
    for (TookLonger* first = times[thing].begin(); first != times[thing].end();) {
      const LocationIndex location = first->location;
      TookLonger* const end = std::find_if(
          first, times[thing].end(), [&](const TookLonger& t) { return t.location != location; });
      for (const StretchId s : of_thing[location]) stretches[s] = true;
      const std::size_t filled = gains_->left_out().size();
      shorten(location, stretches, {first, end}, gains_->left_out());
      gains_->leave_out(thing, location, filled);
      for (const StretchId s : of_thing[location]) stretches[s] = false;
      first = end;
    }
    times[thing].drop();
  }
}

std::vector<Ticks> CausePart::replay(const GainCases& cases) {
  if (!gains_) return {};  // nothing is left out
  gains_->start(cases.cases, [&](std::uint32_t thing, LocationIndex location) {
    const GainCases::OfThing& of = cases.things[thing];
    const bool odd = std::binary_search(of.odd_locations.begin(), of.odd_locations.end(), location);
    return of.all | (odd ? of.odd : 0);
  });
  replay_calls(*gains_);
  std::vector<Ticks> ends;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) ends.push_back(end_of_work(l));
  // (Of a part that goes on all end at the same time, and its last replay was of that meeting.)
  const auto earlier = gains_->finish(ends);
  return {earlier.begin(), earlier.begin() + static_cast<std::ptrdiff_t>(cases.cases)};
}

template <class F, class G>
void CausePart::each_delay(const std::vector<bool>& culprits, F&& f, G&& after_group) {
  const LateOne* late = delays_.late_ones.begin();
  const PairDelay* pair = delays_.pairs.begin();
  const PairWithin* exception = delays_.pairs_within.begin();
  const Share* share = delays_.shares.begin();
  std::vector<Share> part;
  // Of what a dispatcher is idle that part counts for which others waited.
  const auto tell_idle = [&](const Delay& delay, Shares shares, const DelayOf& of) {
    const Ticks passed = ledger_.passed_by_idle(of.item.index());
    if (passed == 0) return;
    part.clear();
    for (const Share& s : shares) {
      const Amount weight = share_of(s.weight(), passed, waits_[of.item.index()].length);
      part.push_back({s.target(), s.to_wait(), static_cast<Ticks>(weight)});
    }
    f(delay, Shares(part), of);
  };
  const auto next_pair = [&](LocationIndex culprit, Ticks to, const DelayOf& of) {
    if (culprits[culprit] && !of.item.group() && log_.is_idle(waits_[of.item.index()])) {
      tell_idle({pair->from, to, pair->whole, culprit, pair->shares}, {share, pair->shares}, of);
    } else if (culprits[culprit]) {
      f(Delay{pair->from, to, pair->whole, culprit, pair->shares}, {share, pair->shares}, of);
    }
    share += pair++->shares;
  };
  for (const Moment& item : delays_.moments) {
    log_.rest_after(kPiecesOfWait);
    if (!item.group()) {
      const WaitRecord& wait = waits_[item.index()];
      if (wait.known == Known::kDelay) {
        next_pair(wait.by, log_.by_time(item.index()), {item});
      } else if (log_.is_direct(wait) && culprits[wait.by]) {
        const Delay delay = direct_.of(wait, [](std::uint32_t, Ticks, Ticks) {});
        f(delay, direct_.shares(), {item});
      }
      continue;
    }
    const GroupDelays& of = delays_.of_group[item.index()];
    if (of.delays == 0) continue;
    const Group& group = log_.groups[item.index()];
    const std::vector<LocationIndex>& members = log_.moments.members(group.id);
    const PairWithin* const end = exception + of.pairs;
    order_.look_at(group);  // exceptions are told by their order, and so is who waited
    for (std::uint32_t d = 0; d < of.delays; ++d) {
      log_.rest_after(kPiecesOfWait);
      if (exception != end && exception->delay == d) {
        const ArrivalRecord& culprit = order_.arrivals()[exception->late];
        next_pair(culprit.location, culprit.time, {item, exception->late, exception->waiter});
        ++exception;
        continue;
      }
      const LocationIndex culprit = members[late->member];
      if (culprits[culprit]) {
        const Ticks to = log_.presences[group.first + late->member].enter;
        f(Delay{of.since, to, late->whole, culprit, late->shares}, {share, late->shares},
          {item, static_cast<std::uint32_t>(order_.place_of(culprit))});
      }
      share += late++->shares;
    }
    after_group(group);
  }
}

Ticks CausePart::end_of_work(LocationIndex location) const {
  const Ticks end = timelines_[location].end(), left = log_.left_team[location];
  if (left == 0) return end;
  std::size_t pieces = 0;  // its thread's outermost region, and what it did of its own
  timelines_[location].each(left, end, [&](const Piece&, Ticks, Ticks) { ++pieces; });
  return pieces > 1 ? end : left;
}

void CausePart::shorten(LocationIndex location, const std::vector<bool>& stretches,
                        std::span<TookLonger> times, LogVector<GainFinder::LeftOut>& left_out) {
  const auto earlier = [](const TookLonger& a, const TookLonger& b) {
    return std::tie(a.to, a.from, a.longer) < std::tie(b.to, b.from, b.longer);
  };
  sort_by(times, log_.memory, [](const TookLonger& t) { return t.to; });
  for (TookLonger* first = times.data(); first != times.data() + times.size();) {
    log_.rest_after(kPiecesOfWait);
    TookLonger* const last = std::find_if(first, times.data() + times.size(),
                                          [&](const TookLonger& t) { return t.to != first->to; });
    std::sort(first, last, earlier);
    first = last;
  }
  // In order of time: most times lie behind those before them.
  const std::size_t filled = left_out.size();  // what lies before is not of this location
  const auto place = [&](Ticks until) {
    if (left_out.size() == filled || left_out.back().until < until) return left_out.end();
    return std::lower_bound(left_out.begin() + filled, left_out.end(), until,
                            [](const GainFinder::LeftOut& l, Ticks t) { return l.until < t; });
  };
  std::vector<GainFinder::LeftOut> parts;
  constexpr std::size_t kAtOnce = (std::size_t{64} << 10) / sizeof(Piece);
  const Piece* piece_before = nullptr;
  for (const TookLonger& t : times) {
    // Where times overlap, what is left out for one counts for the other, too.
    Ticks done = 0, left = 0;
    parts.clear();
    timelines_[location].each(t.from, t.to, [&](const Piece& piece, Ticks begin, Ticks end) {
      // Where it jumps, memory gets what lies around that, too.
      const auto moved =
          piece_before != nullptr && piece_before < &piece ? &piece - piece_before : 1;
      log_.rest_after(std::min(static_cast<std::size_t>(moved), kAtOnce));
      piece_before = &piece;
      if (!stretches[piece.stretch] || piece.wait != kNoWait) return;
      const auto known = place(piece.end);
      const bool any = known != left_out.end() && known->until == piece.end;
      const Ticks gone = any ? known->time : 0;
      done += gone;
      parts.push_back({piece.end, std::max(end - begin - gone, Ticks{0})});
      left += parts.back().time;
    });
    log_.rest_after(parts.size() + kPiecesOfWait);
    const Ticks more = std::min(t.longer - done, left);
    if (more <= 0) continue;
    for (const GainFinder::LeftOut& part : parts) {
      const auto time = static_cast<Ticks>(share_of(more, part.time, left));
      auto known = place(part.until);
      if (known != left_out.end() && known->until == part.until) {
        known->time += time;
        continue;
      }
      const auto before = known - left_out.begin();
      left_out.push_back({part.until, time});
      known = left_out.begin() + before;
      std::rotate(known, left_out.end() - 1, left_out.end());
    }
  }
}

void CausePart::replay_calls(GainFinder& gains) {
  LogVector<DependentCall>& calls = log_.calls;
  const LogVector<Dependency>& told = log_.dependencies;
  sort_by(calls, [](const DependentCall& c) { return c.exit_pos; });
  struct Meeting {
    std::uint64_t first_exit_pos;
    std::uint32_t group;
  };
  LogVector<Meeting> meetings(log_.memory);
  for (std::uint32_t g = 0; g < log_.groups.size(); ++g) {
    if (log_.groups[g].synchronised) meetings.push_back({log_.groups[g].first_exit_pos, g});
  }
  sort_by(meetings, [](const Meeting& m) { return m.first_exit_pos; });
  std::vector<GainFinder::Member> members;
  std::vector<Dependency> together;
  const DependentCall* call = calls.begin();
  // In which call each met the others last: nothing that such a call depended on came later.
  std::vector<CauseLog::Presence> met(timelines_.size(), {-1, -1});
  const auto calls_before = [&](std::uint64_t pos) {
    while (call != calls.end() && call->exit_pos < pos) {
      const DependentCall& first = *call++;
      const CauseLog::Presence& in = met[first.location];
      if (in.enter == first.enter && in.exit == first.exit) continue;
      std::span<const Dependency> on(told.data() + first.first, first.count);
      if (call != calls.end() && call->exit_pos == first.exit_pos) {  // told at several times
        together.assign(on.begin(), on.end());
        for (; call != calls.end() && call->exit_pos == first.exit_pos; ++call) {
          const Dependency* const more = told.data() + call->first;
          together.insert(together.end(), more, more + call->count);
        }
        on = together;
      }
      gains.end_call(first, on);
      log_.rest_after(kPiecesOfWait * on.size());
    }
  };
  for (const Meeting& m : meetings) {
    const Group& group = log_.groups[m.group];
    calls_before(group.first_exit_pos);
    const std::vector<LocationIndex>& who = log_.moments.members(group.id);
    members.clear();
    log_.rest_after(kPiecesOfWait + who.size());
    for (std::size_t i = 0; i < who.size(); ++i) {
      const CauseLog::Presence& p = log_.presences[group.first + i];
      members.push_back({who[i], p.enter});
      met[who[i]] = p;
    }
    gains.meet(members);
  }
  calls_before(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace kojak::expert
