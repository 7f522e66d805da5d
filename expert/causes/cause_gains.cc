// What the run would gain without each of the largest causes and groups: the part of CauseSolver
// that finds what to leave out of the run, and hands the run to GainFinder.
#include <algorithm>
#include <limits>
#include <tuple>

#include "expert/causes/gains_of_groups.h"
#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {
namespace {

// When a call ended, in the order in which calls that ended at the same time count: by what they
// are, not by how the trace mixes its locations.
using EndOf = std::tuple<Ticks, LocationIndex, std::uint64_t>;

template <class T, class End>
void sort_by_end(LogVector<T>& all, End&& end) {
  sort_by(all, [&](const T& one) { return std::get<Ticks>(end(one)); });
  const auto earlier = [&](const T& a, const T& b) { return end(a) < end(b); };
  for (T* first = all.begin(); first != all.end();) {
    T* last = first + 1;
    while (last != all.end() && std::get<Ticks>(end(*last)) == std::get<Ticks>(end(*first))) ++last;
    if (last - first > 1) std::stable_sort(first, last, earlier);
    first = last;
  }
}

}  // namespace

void CauseSolver::find_gains(std::span<ListedCause> causes, GainsOfGroups& groups) {
  if (causes.empty()) return;
  // Causes have the first numbers, then those of the groups.
  const std::size_t count = causes.size() + groups.things();
  std::vector<std::uint8_t> wanted(ledger_.size(), kMostGains);
  std::vector<bool> culprits(timelines_.size());
  for (std::size_t i = 0; i < causes.size(); ++i) {
    wanted[causes[i].cost] = static_cast<std::uint8_t>(i);
    culprits[causes[i].cause.location] = true;
  }
  groups.add_culprits(culprits);
  std::vector<LogVector<TookLonger>> times;
  for (std::size_t i = 0; i < count; ++i) times.emplace_back(log_.memory, true);
  std::vector<std::size_t> last(count);
  std::size_t number = 0;  // of the delay, from 1
  const auto note = [&](std::size_t thing, const Delay& delay, Ticks weight) {
    // (While a lock was held or a target outside MPI, it may have done it several times.)
    if (last[thing] == number) {
      times[thing].back().longer += weight;
    } else {
      times[thing].push_back({delay.from, delay.to, weight, delay.culprit});
      log_.rest_after(kPiecesOfWait);
    }
    last[thing] = number;
  };
  const auto look_at = [&](const Delay& delay, Shares shares, const DelayOf& of) {
    ++number;
    for (const Share& share : shares) {
      if (share.to_wait()) continue;
      if (const std::size_t cause = wanted[share.target()]; cause != kMostGains) {
        note(cause, delay, share.weight());
      }
      for (const GainsOfGroups::Use& use : groups.uses(share.target())) {
        const auto weight = static_cast<Ticks>(share_of(share.weight(), use.part, use.whole));
        if (weight == 0) continue;
        note(causes.size() + use.thing, delay, weight);
        groups.note(*this, use.thing, delay, weight, of);
      }
    }
  };
  each_delay(culprits, look_at, [&](const Group& group) { groups.note_group(*this, group); });
  // What follows may have their place in files.
  delays_.drop();
  GainFinder gains(timelines_.size(), log_.memory);
  std::vector<bool> stretches(log_.stretches.size());
  for (std::uint32_t thing = 0; thing < count; ++thing) {
    sort_by(times[thing], [](const TookLonger& t) { return t.location; });
    for (TookLonger* first = times[thing].begin(); first != times[thing].end();) {
      const LocationIndex location = first->location;
      TookLonger* const end = std::find_if(
          first, times[thing].end(), [&](const TookLonger& t) { return t.location != location; });
      const auto set = [&](bool to) {
        if (thing < causes.size()) {
          stretches[causes[thing].cause.id] = to;
        } else {
          groups.set_stretches(thing - causes.size(), location, stretches, to);
        }
      };
      set(true);
      const std::size_t filled = gains.left_out().size();
      shorten(location, stretches, {first, end}, gains.left_out());
      gains.leave_out(thing, location, filled);
      set(false);
      first = end;
    }
    times[thing].drop();
  }
  std::vector<Ticks> ends;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) ends.push_back(end_of_work(l));
  groups.find_shapes(ledger_.all());
  const std::size_t before = causes.size();  // things that are causes
  gains.start(groups.count_cases(before), [&](std::uint32_t thing, LocationIndex location) {
    return thing < before ? std::uint32_t{1} << thing
                          : groups.cases_alone(thing - before, location);
  });
  replay(gains);
  const auto found = gains.finish(ends);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    RootCause& cause = causes[i].cause;
    if (cause.stretch.kind != Stretch::Kind::kAnswering) cause.gain = in_seconds(found[i]);
  }
  groups.take_alone(found);
  if (groups.cumulated() == 0) return;
  gains.start(groups.cumulated(), [&](std::uint32_t thing, LocationIndex) {
    return thing < before ? 0 : groups.cases_cumulated(thing - before);
  });
  replay(gains);
  groups.take_cumulated(gains.finish(ends));
}

template <class F, class G>
void CauseSolver::each_delay(const std::vector<bool>& culprits, F&& f, G&& after_group) {
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

Ticks CauseSolver::end_of_work(LocationIndex location) const {
  const Ticks end = timelines_[location].end(), left = log_.left_team[location];
  if (left == 0) return end;
  std::size_t pieces = 0;  // its thread's outermost region, and what it did of its own
  timelines_[location].each(left, end, [&](const Piece&, Ticks, Ticks) { ++pieces; });
  return pieces > 1 ? end : left;
}

void CauseSolver::shorten(LocationIndex location, const std::vector<bool>& stretches,
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

void CauseSolver::replay(GainFinder& gains) {
  LogVector<DependentCall>& calls = log_.calls;
  const LogVector<Dependency>& told = log_.dependencies;
  sort_by_end(calls, [](const DependentCall& c) { return EndOf(c.exit, c.location, c.exit_pos); });
  struct Meeting {
    Ticks exit;  // the first one
    LocationIndex location;
    std::uint32_t group;
  };
  LogVector<Meeting> meetings(log_.memory);
  const auto end_of = [&](const Meeting& m) {
    return EndOf(m.exit, m.location, log_.groups[m.group].first_exit_pos);
  };
  for (std::uint32_t g = 0; g < log_.groups.size(); ++g) {
    const Group& group = log_.groups[g];
    if (!group.synchronised) continue;
    const std::vector<LocationIndex>& who = log_.moments.members(group.id);
    std::size_t first = 0;
    for (std::size_t i = 1; i < who.size(); ++i) {
      if (log_.presences[group.first + i].exit < log_.presences[group.first + first].exit)
        first = i;
    }
    meetings.push_back({log_.presences[group.first + first].exit, who[first], g});
    log_.rest_after(who.size());
  }
  sort_by_end(meetings, end_of);
  std::vector<GainFinder::Member> members;
  std::vector<Dependency> together;
  const DependentCall* call = calls.begin();
  const auto calls_before = [&](const EndOf& end) {
    while (call != calls.end() && EndOf(call->exit, call->location, call->exit_pos) < end) {
      const DependentCall& first = *call++;
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
    calls_before(end_of(m));
    const std::vector<LocationIndex>& who = log_.moments.members(group.id);
    members.clear();
    log_.rest_after(kPiecesOfWait + who.size());
    for (std::size_t i = 0; i < who.size(); ++i) {
      const CauseLog::Presence& p = log_.presences[group.first + i];
      members.push_back({who[i], p.enter, p.exit});
    }
    gains.meet(members);
  }
  calls_before({std::numeric_limits<Ticks>::max(), 0, 0});
}

}  // namespace kojak::expert
