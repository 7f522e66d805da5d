#include "expert/causes/cause_solver.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "expert/causes/solve/critical_path.h"
#include "expert/causes/solve/pass_back.h"
#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {

RootCauses CauseSolver::solve(std::span<const CauseLog::Asked> asked) {
  for (std::size_t l = 0; l < timelines_.size(); ++l) {
    timelines_[l].finish(log_.stretches);
    std::vector<Start>& starts = log_.starts[l];
    std::sort(starts.begin(), starts.end(),
              [](const Start& a, const Start& b) { return a.entered < b.entered; });
    timelines_[l].name_starts(starts);
  }
  ledger_.number_calls();
  const auto all_placed = [](const Timeline& timeline) { return timeline.all_placed(); };
  if (!std::all_of(timelines_.begin(), timelines_.end(), all_placed)) place_anew();
  order_moments();
  log_.memory.rest();
  Comparison(log_, delays_, order_, ledger_, direct_).run();
  log_.memory.rest();
  chains_.begin(asked);
  PassBack(log_, delays_, order_, ledger_, direct_, chains_).run();
  log_.memory.rest();
  RootCauses results;
  list(results);
  for (const CauseLog::Asked& a : asked) results.asked.push_back(chains_.of(a));
  follow_critical_path(log_, done_, results);
  if (log_.full) {
    Ticks end = 0;
    for (const Timeline& timeline : timelines_) end = std::max(end, timeline.end());
    results.until = log_.seconds_at(end);
  }
  return results;
}

void CauseSolver::place_anew() {
  // By location, in the order in which they were told.
  std::vector<std::size_t> first(timelines_.size() + 1);
  const auto has_its_place = [&](const WaitRecord& wait) {
    log_.rest_after(kPiecesOfWait);
    return timelines_[location_of(wait)].all_placed();
  };
  for (const WaitRecord& w : waits_) {
    if (!has_its_place(w)) ++first[location_of(w) + 1];
  }
  for (std::size_t l = 0; l < timelines_.size(); ++l) first[l + 1] += first[l];
  LogVector<WaitSpan> spans(first.back(), log_.memory);
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    if (has_its_place(waits_[w])) continue;
    spans[next[location_of(waits_[w])]++] = {waits_[w].begin, waits_[w].end, static_cast<WaitId>(w),
                                             ledger_.call_of(waits_[w]), 0};
    log_.rest_after(kPiecesOfWait);
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
      log_.rest_after(kPiecesOfWait);
    }
    if (!sorted && !insert_each(own, earlier)) {
      sort_by(own, log_.memory, [](const WaitSpan& s) { return s.end; });
      sort_by(own, log_.memory, [](const WaitSpan& s) { return s.begin; });
    }
    timelines_[l].carve(own);
    if (!sorted) sort_by(own, log_.memory, [](const WaitSpan& s) { return s.wait; });
    log_.rest_after(2 * timelines_[l].size() + kPiecesOfWait * own.size());
  }
  next.assign(first.begin(), first.end() - 1);
  for (WaitRecord& w : waits_) {
    if (has_its_place(w)) continue;
    w.length = spans[next[location_of(w)]++].found;
    log_.rest_after(kPiecesOfWait);
  }
}

void CauseSolver::order_moments() {
  // At equal times waits first, then groups, each in the order in which they were told.
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    ledger_.add_wait(log_.own(waits_[w]));
    log_.rest_after(kPiecesOfWait);
    if (waits_[w].known == Known::kOfGroup) continue;
    delays_.moments.push_back({static_cast<std::uint32_t>(w), false, waits_[w].end});
  }
  for (std::size_t g = 0; g < log_.groups.size(); ++g) {
    delays_.moments.push_back({static_cast<std::uint32_t>(g), true, log_.groups[g].last});
  }
  sort_by(delays_.moments, [](const Moment& moment) { return moment.time(); });
}

void CauseSolver::list(RootCauses& results) {
  ledger_.list(results);
  std::vector<ListedCause> listed;
  for (std::uint32_t number = 0; number < ledger_.size(); ++number) {
    const CauseLedger::CauseSums& cost = ledger_[number];
    RootCause cause;
    cause.location = cost.location;
    cause.id = cost.stretch;
    cause.stretch = log_.stretches[cause.id];
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
      const CauseLog::WaitPlace& place = log_.places[what];
      cause.objects.push_back({place.object, place.object_id, in_seconds(amount)});
    }
    std::sort(cause.patterns.begin(), cause.patterns.end(),
              [](const CostOfPattern& a, const CostOfPattern& b) {
                const double x = a.short_term + a.long_term, y = b.short_term + b.long_term;
                return x != y ? x > y : a.metric < b.metric;
              });
    std::sort(cause.objects.begin(), cause.objects.end(),
              [](const CostOfObject& a, const CostOfObject& b) {
                return std::tuple(-a.seconds, a.object, a.id) <
                       std::tuple(-b.seconds, b.object, b.id);
              });
    listed.push_back({std::move(cause), number});
  }
  const auto sort = [](std::span<ListedCause> causes) {
    std::sort(causes.begin(), causes.end(), [](const ListedCause& x, const ListedCause& y) {
      const RootCause &a = x.cause, &b = y.cause;
      if (a.gain != b.gain) return a.gain > b.gain;
      if (a.seconds != b.seconds) return a.seconds > b.seconds;
      return std::tuple(a.location, a.stretch.place()) < std::tuple(b.location, b.stretch.place());
    });
  };
  sort(listed);
  std::vector<StretchId> computing;
  std::vector<bool> known(log_.stretches.size());
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
      l.cause.chain = chains_.to_cause(l.cause.location, stretch, ledger_[l.cost].via,
                                       ledger_[l.cost].to, std::min(room, CauseChains::kMostLinks));
      room -= l.cause.chain.links.size();
      // Chains lie anywhere in the logs: memory gets what lies around them, too.
      constexpr std::size_t kPiecesOfChain = 8192, kPiecesOfLink = 256;
      log_.rest_after(kPiecesOfChain + kPiecesOfLink * l.cause.chain.links.size());
    }
    results.causes.push_back(std::move(l.cause));
  }
}

CauseSolver::Doers CauseSolver::list_times(RootCauses& results,
                                           const std::vector<StretchId>& wanted) {
  constexpr std::size_t kNotWanted = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(log_.stretches.size(), kNotWanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) place[wanted[i]] = i;
  std::vector<std::vector<StretchTime>> times(wanted.size());
  done_.assign(log_.stretches.size(), 0);
  std::vector<Ticks> sums(log_.stretches.size(), 0);
  std::vector<StretchId> used;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) {
    timelines_[l].each([&](const Piece& piece, Ticks length) {
      log_.rest_after(1);
      if (piece.wait != kNoWait) return;
      if (sums[piece.stretch] == 0) used.push_back(piece.stretch);
      sums[piece.stretch] += length;
    });
    for (const StretchId k : used) {
      done_[k] += sums[k];
      if (place[k] != kNotWanted) {
        times[place[k]].push_back({log_.stretches[k], l, in_seconds(Amount{sums[k]})});
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
  if (log_.samples.empty()) return;
  struct Places {
    std::map<CallSiteId, std::uint64_t> all;
    std::map<LocationIndex, std::map<CallSiteId, std::uint64_t>> of_location;
  };
  std::unordered_map<StretchId, Places> found;
  for (const CauseLog::SampleRecord& s : log_.samples) {
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

}  // namespace kojak::expert
