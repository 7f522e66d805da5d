#include "expert/causes/cause_finder.h"

#include <algorithm>
#include <limits>

#include "expert/causes/cause_solver.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {

CauseFinder::CauseFinder(std::size_t locations, const RegionClasses& classes,
                         const Options& options, LogMemory& memory)
    : memory_(memory),
      classes_(classes),
      options_(options),
      waits_(memory_),
      late_enders_(memory_),
      groups_(memory_),
      presences_(memory_),
      calls_(memory_),
      dependencies_(memory_),
      samples_(memory_),
      starts_(locations),
      left_team_(locations),
      moments_(locations) {
  timelines_.reserve(locations);
  for (std::size_t l = 0; l < locations; ++l) timelines_.emplace_back(memory_);
}

void CauseFinder::on_meeting(std::uint64_t operation, std::span<const Arrival> arrivals) {
  if (!has_room(groups_)) return;
  operation_ = operation;
  const auto before = [](const Arrival& a, const Arrival& b) { return a.location < b.location; };
  if (!std::is_sorted(arrivals.begin(), arrivals.end(), before)) {
    current_.assign(arrivals.begin(), arrivals.end());
    std::sort(current_.begin(), current_.end(), before);
    arrivals = current_;
  }
  members_.clear();
  Group group{0, false, true, 0, arrivals.front().exit_pos, presences_.size(), 0, 0};
  Ticks first_exit = std::numeric_limits<Ticks>::max();
  for (const Arrival& a : arrivals) {
    members_.push_back(a.location);
    presences_.push_back({ticks(a.enter), ticks(a.exit)});
    group.last = std::max(group.last, presences_.back().enter);
    first_exit = std::min(first_exit, presences_.back().exit);
    group.first_exit_pos = std::min(group.first_exit_pos, a.exit_pos);
  }
  group.synchronised = group.last <= first_exit;
  group.id = group_of_members();
  groups_.push_back(group);
  grow(arrivals.size() * sizeof(Presence) + sizeof(Group));
}

CommonMoments::GroupId CauseFinder::group_of_members() {
  // Mostly that of the operation before.
  if (group_ == kNone32 || moments_.members(group_) != members_) {
    group_ = moments_.group(members_);
  }
  return group_;
}

void CauseFinder::on_team(LocationIndex master, Seconds made,
                          std::span<const OmpTeams::Member> members) {
  members_.clear();
  for (const OmpTeams::Member& m : members) {
    if (m.parallel.enter < made) return;  // clocks differ
    members_.push_back(m.parallel.index);
  }
  std::sort(members_.begin(), members_.end());
  if (std::adjacent_find(members_.begin(), members_.end()) != members_.end()) return;
  if (!has_room(groups_) || !has_room(dependencies_)) return;
  const Ticks begin = ticks(made);
  groups_.push_back({group_of_members(), false, false, begin, 0, 0, 0, 0});
  for (const OmpTeams::Member& m : members) {
    const earl::OpenCall& parallel = m.parallel;
    if (parallel.index == master) continue;
    const Ticks entered = ticks(parallel.enter);
    starts_[parallel.index].push_back(
        {begin, entered, stretches_.starting(raw(parallel.cnode)), master});
    // A thread that begins with its region could have done so at any time.
    const Ticks ready = m.before < made ? ticks(m.before) : 0;
    if (!has_room(dependencies_)) return;
    add_dependency({parallel.enter_pos, ready, entered, parallel.index}, {begin, master});
  }
}

void CauseFinder::on_wait(const Wait& wait) {
  if (wait.cause == Wait::Cause::kNobody || kPartOfPattern[wait.metric]) return;
  if (wait.cause == Wait::Cause::kSeen) return add_wait(wait, true);
  if (wait.ended_by.never) return add_unended(wait);
  add_compared(wait);
}

void CauseFinder::add_unended(Wait wait) {
  const Seconds begin = wait.begin, end = wait.end;
  wait.ended_by.never = false;
  for (const auto& [from, to] :
       {std::pair{begin, common_}, std::pair{std::max(begin, common_), end}}) {
    if (!(from < to)) continue;
    wait.begin = from;
    wait.end = to;
    wait.waiting = to - from;
    if (wait.ended_by.known()) wait.ended_by.time = to;
    add_compared(wait);
  }
}

void CauseFinder::add_compared(const Wait& wait) {
  const Seconds idle = wait.ended_by.idle_since;
  if (!(idle < wait.end) || !wait.ended_by.known()) return add_wait(wait, false);
  Wait part = wait;  // until it had done its work for the one that waits
  if (wait.begin < idle) {
    part.end = part.ended_by.time = idle;
    part.waiting = std::min(wait.waiting, idle - wait.begin);
    add_wait(part, false);
    part.begin = idle;
    part.waiting = wait.waiting - part.waiting;
  }
  part.end = wait.end;
  part.ended_by = wait.ended_by;
  add_wait(part, true);
}

void CauseFinder::add_wait(const Wait& wait, bool direct) {
  if (!has_room(waits_)) [[unlikely]] {
    not_listed_ += in_ticks(wait.waiting.value);
    return;
  }
  WaitRecord w{};
  w.begin = ticks(wait.begin);
  w.end = ticks(wait.end);
  // Where it lies within its call is not known: at the call's begin as well as anywhere.
  if (!wait.ended_by.known()) w.end = std::min(w.end, w.begin + in_ticks(wait.waiting.value));
  w.by = wait.ended_by.known() ? wait.ended_by.location : kNoLocation;
  const Ticks by_time = wait.ended_by.known() ? ticks(wait.ended_by.time) : w.end;
  const bool for_all = !direct && !groups_.empty() && wait.operation.number == operation_ &&
                       wait.ended_by.known() && by_time == groups_.back().last &&
                       (!groups_.back().waited || groups_.back().waits_end == waits_.size());
  if (wait.ended_by.known() && !(for_all && groups_.back().synchronised)) {
    depend(wait.location, wait.enter, wait.exit, wait.exit_pos, wait.ended_by);
  }
  if (wait.waiting.value < options_.min_wait) {
    not_listed_ += in_ticks(wait.waiting.value);
    return;
  }
  w.place = place_of(wait);
  w.known = direct ? Known::kDirect : Known::kDelay;
  const auto number = static_cast<WaitId>(waits_.size());
  if (for_all) {
    Group& group = groups_.back();
    if (!group.waited) group.first_wait = number;
    group.waited = true;
    group.waits_end = number + 1;
    w.known = Known::kOfGroup;
  } else if (!direct && by_time != w.end) {
    late_enders_.push_back({by_time, number});
  }
  WaitSpan span{w.begin, w.end, number, stretches_.call(wait.call_path)};
  timelines_[wait.location].place(span);
  w.length = span.found;
  waits_.push_back(w);
  grow(sizeof(WaitRecord));
}

std::uint32_t CauseFinder::place_of(const Wait& wait) {
  const WaitPlace place{wait.location, wait.call_path, wait.metric, wait.operation.id,
                        wait.operation.object};
  std::uint64_t key = std::uint64_t{place.location} << 32 | place.call_path;
  key = (key ^ std::uint64_t{place.object_id} << 20 ^ place.metric) * 0x9E3779B97F4A7C15u;
  key ^= key >> 29;
  std::uint32_t& recent = recent_places_[key % recent_places_.size()];
  if (recent < places_.size() && places_[recent] == place) return recent;
  const auto [first, last] = place_numbers_.equal_range(key);
  for (auto known = first; known != last; ++known) {
    if (places_[known->second] == place) return recent = known->second;
  }
  recent = static_cast<std::uint32_t>(places_.size());
  place_numbers_.emplace(key, recent);
  places_.push_back(place);
  return recent;
}

void CauseFinder::depend(LocationIndex location, Seconds enter, Seconds exit,
                         std::uint64_t exit_pos, const EndedBy& by) {
  if (by.location == location || !has_room(dependencies_)) return;
  const Ticks end = ticks(exit);
  add_dependency({exit_pos, ticks(enter), end, location},
                 {std::min(end, ticks(by.time)), by.location});
}

// What one call depends on is mostly told at once.
void CauseFinder::add_dependency(DependentCall call, const Dependency& on) {
  if (calls_.empty() || !calls_.back().is_same(call)) {
    call.first = static_cast<std::uint32_t>(dependencies_.size());
    calls_.push_back(call);
    grow(sizeof(DependentCall));
  }
  ++calls_.back().count;
  dependencies_.push_back(on);
  grow(sizeof(Dependency));
}

Ticks CauseFinder::late_by_time(WaitId wait) const {
  const LateEnder* const known =
      std::lower_bound(late_enders_.begin(), late_enders_.end(), wait,
                       [](const LateEnder& l, WaitId w) { return l.wait < w; });
  return known != late_enders_.end() && known->wait == wait ? Ticks{known->time} : waits_[wait].end;
}

void CauseFinder::on_moved(CallPathIndex path, LocationIndex location, MetricIndex from,
                           std::optional<MetricIndex> to) {
  if (!to) return;
  for (WaitPlace& place : places_) {
    if (place.metric != from || place.call_path != path || place.location != location) continue;
    place.idle = true;
  }
}

RootCauses CauseFinder::finish(const WaitResults& waits) {
  std::vector<Asked> asked;
  for (const auto* instances : {&waits.worst, &waits.of_places}) {
    for (const Instance& i : *instances) {
      const Waiter& w = i.waiters.front();
      asked.push_back({w.location, w.ended_by.known() ? std::min(w.ended_by.time, w.exit)
                                                      : w.enter + Seconds{w.waiting.seconds()}});
    }
  }
  return CauseSolver(*this).solve(asked);
}

}  // namespace kojak::expert
