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
  std::size_t first = 0;
  for (const Delay& delay : delays_) {
    rest_after(kPiecesOfWait);
    if (culprits[delay.culprit]) look_at(delay, {shares_.data() + first, delay.shares});
    first += delay.shares;
  }
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    rest_after(kPiecesOfWait);
    if (waits_[w].known != Known::kDirect || !culprits[waits_[w].by]) continue;
    const Delay delay = direct_delay(waits_[w], [](std::uint32_t, Ticks, Ticks) {});
    look_at(delay, direct_shares_);
  }
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
  // What one call depends on was mostly told at once.
  struct Run {
    std::uint64_t exit_pos;
    std::uint32_t first, count;
  };
  const LogVector<Dependency>& told = c_.dependencies_;
  LogVector<Run> runs(c_.memory_);
  for (std::uint32_t d = 0; d < told.size(); ++d) {
    if (runs.empty() || runs.back().exit_pos != told[d].exit_pos) {
      runs.push_back({told[d].exit_pos, d, 0});
    }
    ++runs.back().count;
    rest_after(kPiecesOfWait);
  }
  sort_by(runs, [](const Run& r) { return r.exit_pos; });
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
  const Run* run = runs.begin();
  const auto calls_before = [&](std::uint64_t pos) {
    while (run != runs.end() && run->exit_pos < pos) {
      const Run* const first = run++;
      std::span<const Dependency> call(told.data() + first->first, first->count);
      if (run != runs.end() && run->exit_pos == first->exit_pos) {
        together.assign(call.begin(), call.end());
        for (; run != runs.end() && run->exit_pos == first->exit_pos; ++run) {
          const Dependency* const more = told.data() + run->first;
          together.insert(together.end(), more, more + run->count);
        }
        call = together;
      }
      gains.end_call(call);
      rest_after(kPiecesOfWait * call.size());
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
