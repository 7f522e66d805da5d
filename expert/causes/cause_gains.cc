// What the run would gain without each of the largest causes: the part of CauseSolver that finds
// what to leave out of the run, and hands the run to GainFinder.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "expert/causes/cause_solver.h"
#include "expert/causes/sort_by.h"

namespace kojak::expert {

void CauseSolver::find_gains(std::span<ListedCause> causes) {
  if (causes.empty()) return;
  constexpr std::uint8_t kNotWanted = GainFinder::kMost;
  std::vector<std::uint8_t> wanted(costs_.size(), kNotWanted);
  std::vector<bool> culprits(timelines_.size());
  for (std::size_t i = 0; i < causes.size(); ++i) {
    wanted[causes[i].cost] = static_cast<std::uint8_t>(i);
    culprits[causes[i].cause.location] = true;
  }
  std::vector<LogVector<TookLonger>> times;
  for (std::size_t i = 0; i < causes.size(); ++i) times.emplace_back(c_.memory_, true);
  std::array<std::size_t, GainFinder::kMost> last{};
  std::size_t number = 0;  // of the delay, from 1
  const auto look_at = [&](const Delay& delay, Shares shares) {
    ++number;
    for (const Share& share : shares) {
      if (share.to_wait() || wanted[share.target()] == kNotWanted) continue;
      const std::size_t cause = wanted[share.target()];
      // (While a lock was held or a target outside MPI, it may have done it several times.)
      if (last[cause] == number) {
        times[cause].back().longer += share.weight();
      } else {
        times[cause].push_back({delay.from, delay.to, share.weight()});
        rest_after(kPiecesOfWait);
      }
      last[cause] = number;
    }
  };
  each_delay(culprits, look_at);
  // What follows may have their place in files.
  items_.drop();
  of_group_.drop();
  exceptions_.drop();
  late_ones_.drop();
  pairs_.drop();
  shares_.drop();
  received_.drop();
  GainFinder gains(timelines_.size(), causes.size(), c_.memory_);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    shorten(i, causes[i].cause.location, causes[i].cause.id, times[i], gains);
  }
  replay(gains);
  std::vector<Ticks> ends;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) ends.push_back(end_of_work(l));
  const auto found = gains.finish(ends);
  for (std::size_t i = 0; i < causes.size(); ++i) causes[i].cause.gain = in_seconds(found[i]);
}

template <class F>
void CauseSolver::each_delay(const std::vector<bool>& culprits, F&& f) {
  const LateOne* late = late_ones_.begin();
  const Pair* pair = pairs_.begin();
  const Exception* exception = exceptions_.begin();
  const Share* share = shares_.begin();
  const auto next_pair = [&](LocationIndex culprit, Ticks to) {
    if (culprits[culprit]) {
      f(Delay{pair->from, to, pair->whole, culprit, pair->shares}, {share, pair->shares});
    }
    share += pair++->shares;
  };
  for (const Item& item : items_) {
    rest_after(kPiecesOfWait);
    if (!item.group()) {
      const WaitRecord& wait = waits_[item.index()];
      if (wait.known == Known::kDelay) {
        next_pair(wait.by, c_.by_time(item.index()));
      } else if (wait.known == Known::kDirect && culprits[wait.by]) {
        const Delay delay = direct_delay(wait, [](std::uint32_t, Ticks, Ticks) {});
        f(delay, direct_shares_);
      }
      continue;
    }
    const OfGroup& of = of_group_[item.index()];
    if (of.delays == 0) continue;
    const Group& group = c_.groups_[item.index()];
    const std::vector<LocationIndex>& members = c_.moments_.members(group.id);
    const Exception* const end = exception + of.exceptions;
    if (of.exceptions != 0) look_at(group);  // exceptions are told by their order
    for (std::uint32_t d = 0; d < of.delays; ++d) {
      rest_after(kPiecesOfWait);
      if (exception != end && exception->delay == d) {
        const ArrivalRecord& culprit = arrivals_[exception++->late];
        next_pair(culprit.location, culprit.time);
        continue;
      }
      const LocationIndex culprit = members[late->member];
      if (culprits[culprit]) {
        const Ticks to = c_.presences_[group.first + late->member].enter;
        f(Delay{of.since, to, late->whole, culprit, late->shares}, {share, late->shares});
      }
      share += late++->shares;
    }
  }
}

Ticks CauseSolver::end_of_work(LocationIndex location) const {
  const Ticks end = timelines_[location].end(), left = c_.left_team_[location];
  if (left == 0) return end;
  std::size_t pieces = 0;  // its thread's outermost region, and what it did of its own
  timelines_[location].each(left, end, [&](const Piece&, Ticks, Ticks) { ++pieces; });
  return pieces > 1 ? end : left;
}

void CauseSolver::shorten(std::size_t cause, LocationIndex location, StretchId stretch,
                          LogVector<TookLonger>& times, GainFinder& gains) {
  const auto earlier = [](const TookLonger& a, const TookLonger& b) {
    return std::tie(a.to, a.from, a.longer) < std::tie(b.to, b.from, b.longer);
  };
  sort_by(times, [](const TookLonger& t) { return t.to; });
  for (TookLonger* first = times.begin(); first != times.end();) {
    rest_after(kPiecesOfWait);
    TookLonger* const last =
        std::find_if(first, times.end(), [&](const TookLonger& t) { return t.to != first->to; });
    std::sort(first, last, earlier);
    first = last;
  }
  // In order of time: most times lie behind those before them.
  LogVector<GainFinder::LeftOut>& left_out = gains.left_out(cause, location);
  const auto place = [&](Ticks until) {
    if (left_out.empty() || left_out.back().until < until) return left_out.end();
    return std::lower_bound(left_out.begin(), left_out.end(), until,
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
      rest_after(std::min(static_cast<std::size_t>(moved), kAtOnce));
      piece_before = &piece;
      if (piece.stretch != stretch || piece.wait != kNoWait) return;
      const auto known = place(piece.end);
      const bool any = known != left_out.end() && known->until == piece.end;
      const Ticks gone = any ? known->time : 0;
      done += gone;
      parts.push_back({piece.end, std::max(end - begin - gone, Ticks{0})});
      left += parts.back().time;
    });
    rest_after(parts.size() + kPiecesOfWait);
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
  LogVector<DependentCall>& calls = c_.calls_;
  const LogVector<Dependency>& told = c_.dependencies_;
  sort_by(calls, [](const DependentCall& c) { return c.exit_pos; });
  struct Meeting {
    std::uint64_t first_exit_pos;
    std::uint32_t group;
  };
  LogVector<Meeting> meetings(c_.memory_);
  for (std::uint32_t g = 0; g < c_.groups_.size(); ++g) {
    if (c_.groups_[g].synchronised) meetings.push_back({c_.groups_[g].first_exit_pos, g});
  }
  sort_by(meetings, [](const Meeting& m) { return m.first_exit_pos; });
  gains.start();
  std::vector<GainFinder::Member> members;
  std::vector<Dependency> together;
  const DependentCall* call = calls.begin();
  const auto calls_before = [&](std::uint64_t pos) {
    while (call != calls.end() && call->exit_pos < pos) {
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
      rest_after(kPiecesOfWait * on.size());
    }
  };
  for (const Meeting& m : meetings) {
    const Group& group = c_.groups_[m.group];
    calls_before(group.first_exit_pos);
    const std::vector<LocationIndex>& who = c_.moments_.members(group.id);
    members.clear();
    rest_after(kPiecesOfWait + who.size());
    for (std::size_t i = 0; i < who.size(); ++i) {
      const CauseFinder::Presence& p = c_.presences_[group.first + i];
      members.push_back({who[i], p.enter, p.exit});
    }
    gains.meet(members);
  }
  calls_before(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace kojak::expert
