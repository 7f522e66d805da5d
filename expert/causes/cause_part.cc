#include "expert/causes/cause_part.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "expert/causes/solve/pass_back.h"
#include "expert/causes/solve/place_numbers.h"
#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {

CauseAnswer CausePart::answer(const CauseRequest& request) {
  CauseAnswer answer;
  switch (request.kind) {
    case CauseRequest::Kind::kSums:
      solve(request.asked, answer.sums);
      break;
    case CauseRequest::Kind::kLeaveOut:
      leave_out(request.left_out, answer.things);
      break;
    case CauseRequest::Kind::kReplay:
      answer.earlier = replay(request.cases);
      break;
    case CauseRequest::Kind::kChains:
      for (const ChainWanted& wanted : request.chains) {
        answer.chains.push_back(chains_.to_cause(wanted));
        // Chains lie anywhere in the logs: memory gets what lies around them, too.
        constexpr std::size_t kPiecesOfChain = 8192, kPiecesOfLink = 256;
        log_.rest_after(kPiecesOfChain + kPiecesOfLink * answer.chains.back().links.size());
      }
      break;
    case CauseRequest::Kind::kPath:
      answer.path = follow_path(request.path);
      break;
  }
  return answer;
}

void CausePart::solve(std::span<const CauseRequest::Asked> asked, CauseSums& sums) {
  for (std::size_t l = 0; l < timelines_.size(); ++l) {
    timelines_[l].finish(log_.stretches);
    std::vector<Start>& starts = log_.starts[l];
    std::sort(starts.begin(), starts.end(),
              [](const Start& a, const Start& b) { return a.entered < b.entered; });
    timelines_[l].name_starts(starts);
  }
  sums.why_apart = cut();
  sums.numbered = {waits_.size(), log_.groups.size(), log_.dependencies.size()};
  if (sums.why_apart != 0) return;
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
  // (Which of them are kept, the whole run decides.)
  const bool is_part = log_.of_run.begins_behind || log_.of_run.goes_on;
  if (is_part && ledger_.left_out()) sums.why_apart = CauseSums::kTooMany;
  for (const CauseRequest::Asked& a : asked) sums.chains.push_back(chains_.of(a));
  ledger_.list(sums);
  list_times(sums);
  list_samples(sums);
  for (StretchId s = 0; s < log_.stretches.size(); ++s) sums.stretches.push_back(log_.stretches[s]);
  for (const Timeline& timeline : timelines_) sums.ends.push_back(timeline.end());
}

std::uint8_t CausePart::cut() {
  CauseLog::OfRun& of = log_.of_run;
  if (of.begins_behind) {
    std::vector<LocationIndex> all(timelines_.size());
    std::iota(all.begin(), all.end(), LocationIndex{0});
    log_.moments.came_together(log_.moments.group(all), of.begin);
  }
  of.end = std::numeric_limits<Ticks>::max();
  if (of.goes_on) {
    // All have left the last of its groups, and nothing is behind that.
    if (log_.groups.empty()) return CauseSums::kNotAll;
    const Group& last = log_.groups.back();
    const std::vector<LocationIndex>& members = log_.moments.members(last.id);
    if (!last.synchronised || members.size() != timelines_.size()) return CauseSums::kNotAll;
    for (LocationIndex l = 0; l < timelines_.size(); ++l) {
      if (log_.presences[last.first + l].exit != timelines_[l].end()) return CauseSums::kNotAll;
    }
    of.end = last.last;
    for (Timeline& timeline : timelines_) timeline.end_at(of.end);
  } else if (!of.begins_behind) {
    return 0;
  }
  for (const WaitRecord& wait : waits_) {
    if (wait.begin < of.begin || wait.end > of.end) return CauseSums::kAcross;
  }
  for (const CauseLog::LateEnder& late : log_.late_enders) {
    if (late.time > of.end) return CauseSums::kAcross;
  }
  for (const Group& group : log_.groups) {
    if (group.last > of.end) return CauseSums::kAcross;
  }
  return 0;
}

void CausePart::place_anew() {
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

void CausePart::order_moments() {
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

void CausePart::list_times(CauseSums& sums) const {
  std::vector<Ticks> times(log_.stretches.size(), 0);
  std::vector<StretchId> used;
  for (LocationIndex l = 0; l < timelines_.size(); ++l) {
    timelines_[l].each(log_.of_run.begin, timelines_[l].end(),
                       [&](const Piece& piece, Ticks begin, Ticks end) {
                         log_.rest_after(1);
                         if (piece.wait != kNoWait) return;
                         if (times[piece.stretch] == 0) used.push_back(piece.stretch);
                         times[piece.stretch] += end - begin;
                       });
    for (const StretchId k : used) {
      sums.times.push_back({k, l, times[k]});
      times[k] = 0;
    }
    used.clear();
  }
}

void CausePart::list_samples(CauseSums& sums) const {
  std::map<std::tuple<StretchId, LocationIndex, CallSiteId>, std::uint64_t> counts;
  for (const CauseLog::SampleRecord& s : log_.samples) {
    const Piece* const piece = timelines_[s.location].before(s.time);
    if (piece == nullptr) continue;
    if (log_.stretches[piece->stretch].kind != Stretch::Kind::kComputing) continue;
    counts[{piece->stretch, s.location, s.site}] += s.count;
  }
  for (const auto& [key, count] : counts) {
    sums.samples.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
  }
}

PathOfPart CausePart::follow_path(const PathPlace& from) const {
  PathOfPart path;
  LocationIndex at = from.location;
  Ticks time = from.time;
  PlaceNumbers numbers;
  std::vector<Amount> shares;
  constexpr std::size_t kPiecesOfJump = 1024;  // memory gets what lies around them, too
  std::size_t jumps = from.jumps;
  while (const Piece* piece = time > log_.of_run.begin ? timelines_[at].before(time) : nullptr) {
    if (piece->wait != kNoWait && jumps <= timelines_.size()) {
      const WaitRecord& wait = waits_[piece->wait];
      // Who serves is no part of the work.
      const bool serves = wait.known == Known::kService;
      if (wait.by != kNoLocation && wait.by != at && !serves && time <= wait.end) {
        at = wait.by;
        ++jumps;
        log_.rest_after(kPiecesOfJump);
        time = std::min(time, timelines_[at].end());
        continue;
      }
    }
    const Ticks begin = std::max(timelines_[at].begin_of(*piece), log_.of_run.begin);
    path.all_parts = path.all_parts &&
                     add_path_part(path.parts, {at, log_.seconds_at(begin), log_.seconds_at(time)});
    const std::uint32_t number = numbers.number(at, piece->stretch);
    if (number == shares.size()) shares.push_back(0);
    shares[number] += time - begin;
    log_.rest_after(1);
    time = begin;
    jumps = 0;
    // Before a thread's team was made it had nothing to do but to wait for that.
    const std::vector<Start>& starts = log_.starts[at];
    const auto start = std::lower_bound(starts.begin(), starts.end(), begin,
                                        [](const Start& s, Ticks t) { return s.made < t; });
    if (start != starts.end() && start->made == begin && begin <= timelines_[start->master].end()) {
      at = start->master;
    }
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    path.shares.push_back({numbers.location(i), numbers.what(i), shares[i]});
  }
  path.goes_on = {at, time, jumps};
  return path;
}

}  // namespace kojak::expert
