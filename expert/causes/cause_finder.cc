#include "expert/causes/cause_finder.h"

#include <algorithm>
#include <limits>

#include "expert/causes/cause_solver.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {

CauseFinder::CauseFinder(const Setting& setting, const RegionClasses& classes,
                         const Options& options, LogMemory& memory)
    : log_(setting.locations(), memory),
      classes_(classes),
      trace_(setting.trace),
      services_(setting.services),
      options_(options) {
  if (!services_.any()) return;
  for (LocationIndex l = 0; l < setting.locations(); ++l) {
    if (services_.since(l) < Services::kNever) log_.serving.try_emplace(l, memory);
    log_.firsts.push_back(trace_.main_index(trace_.process(l)));
  }
}

void CauseFinder::asks(const earl::OpenCall& call) {
  const MpiRole role = call.role();
  const bool finds = role >= MpiRole::kProbe && role <= MpiRole::kImprobe;
  const bool tests = role >= MpiRole::kTest && role <= MpiRole::kTestsome;
  if (!finds && !tests && role != MpiRole::kFinalize) return;
  const StretchId idle = log_.stretches.answering(raw(call.cnode), Stretch::kNobody);
  log_.serving.at(call.index).go_over(ticks(call.enter), idle);
}

void CauseFinder::takes(const earl::RecvEvent& receive) {
  const earl::OpenCall& call = *receive.call;
  Timeline& timeline = log_.serving.at(call.index);
  const LocationIndex whom = trace_.main_index(receive.source);
  const Stretch& now = log_.stretches[timeline.doing()];
  // More from the one whom it answers belongs to the same request.
  if (!receive.from_any && now.kind == Stretch::Kind::kAnswering && now.whom == whom) return;
  const auto go_over = [&](Seconds time, LocationIndex to) {
    timeline.go_over(ticks(time), log_.stretches.answering(raw(call.cnode), to));
    grow(sizeof(Piece));
  };
  go_over(call.enter, Stretch::kNobody);
  go_over(receive.time, whom);
}

void CauseFinder::on_meeting(std::uint64_t operation, std::span<const Arrival> arrivals) {
  if (!has_room(log_.groups)) return;
  operation_ = operation;
  const auto before = [](const Arrival& a, const Arrival& b) { return a.location < b.location; };
  if (services_.any()) [[unlikely]] {
    current_.assign(arrivals.begin(), arrivals.end());
    std::erase_if(current_, [&](const Arrival& a) { return serves(a.location, a.enter); });
    std::sort(current_.begin(), current_.end(), before);
    if (current_.empty()) return;
    arrivals = current_;
    const auto last =
        std::max_element(current_.begin(), current_.end(),
                         [](const Arrival& a, const Arrival& b) { return a.enter < b.enter; });
    last_to_come_ = {.location = last->location, .time = last->enter};
  } else if (!std::is_sorted(arrivals.begin(), arrivals.end(), before)) {
    current_.assign(arrivals.begin(), arrivals.end());
    std::sort(current_.begin(), current_.end(), before);
    arrivals = current_;
  }
  members_.clear();
  CauseLog::Group group{0, false, true, 0, arrivals.front().exit_pos, log_.presences.size(), 0, 0};
  Ticks first_exit = std::numeric_limits<Ticks>::max();
  for (const Arrival& a : arrivals) {
    members_.push_back(a.location);
    log_.presences.push_back({ticks(a.enter), ticks(a.exit)});
    group.last = std::max(group.last, log_.presences.back().enter);
    first_exit = std::min(first_exit, log_.presences.back().exit);
    group.first_exit_pos = std::min(group.first_exit_pos, a.exit_pos);
  }
  group.synchronised = group.last <= first_exit;
  group.id = group_of_members();
  log_.groups.push_back(group);
  grow(arrivals.size() * sizeof(CauseLog::Presence) + sizeof(CauseLog::Group));
}

CommonMoments::GroupId CauseFinder::group_of_members() {
  // Mostly that of the operation before.
  if (group_ == CauseLog::kNone32 || log_.moments.members(group_) != members_) {
    group_ = log_.moments.group(members_);
  }
  return group_;
}

void CauseFinder::on_passed(std::span<const Arrival> arrivals) {
  if (!has_room(log_.groups)) return;
  members_.clear();
  Ticks last = 0;
  for (const Arrival& a : arrivals) {
    members_.push_back(a.location);
    last = std::max(last, ticks(a.enter));
  }
  std::sort(members_.begin(), members_.end());
  log_.groups.push_back({group_of_members(), false, false, last, 0, 0, 0, 0});
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
  if (!has_room(log_.groups) || !has_room(log_.dependencies)) return;
  const Ticks begin = ticks(made);
  log_.groups.push_back({group_of_members(), false, false, begin, 0, 0, 0, 0});
  for (const OmpTeams::Member& m : members) {
    const earl::OpenCall& parallel = m.parallel;
    if (parallel.index == master) continue;
    const Ticks entered = ticks(parallel.enter);
    log_.starts[parallel.index].push_back(
        {begin, entered, log_.stretches.starting(raw(parallel.cnode)), master});
    // A thread that begins with its region could have done so at any time.
    const Ticks ready = m.before < made ? ticks(m.before) : 0;
    if (!has_room(log_.dependencies)) return;
    add_dependency({parallel.enter_pos, ready, entered, parallel.index}, {begin, master});
  }
}

void CauseFinder::on_wait(const Wait& wait) {
  if (wait.cause == Wait::Cause::kNobody || kPartOfPattern[wait.metric]) return;
  const EndedBy& by = wait.ended_by;
  if (services_.any() && serves(by.location, by.never ? wait.end : by.time)) [[unlikely]]
    return add_service(wait);
  if (wait.cause == Wait::Cause::kSeen) return add_wait(wait, CauseLog::Known::kDirect);
  if (wait.ended_by.never) return add_unended(wait);
  add_compared(wait);
}

void CauseFinder::add_service(const Wait& wait) {
  Wait part = wait;
  part.ended_by.never = false;
  const EndedBy by = part.ended_by;
  // Of a meeting the others come first, and then the one that serves.
  const bool meeting = wait.operation.number == operation_ && last_to_come_.known() &&
                       last_to_come_.location != wait.location && wait.begin < last_to_come_.time;
  if (meeting) {
    part.end = std::min(wait.end, last_to_come_.time);
    part.waiting = std::min(wait.waiting, part.end - part.begin);
    part.ended_by = last_to_come_;
    add_wait(part, CauseLog::Known::kDelay);
    part.begin = part.end;
    part.end = wait.end;
    part.waiting = wait.waiting - part.waiting;
    part.ended_by = by;
    if (!(part.waiting > Seconds{0})) return;
  }
  add_wait(part, CauseLog::Known::kService);
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
  if (!(idle < wait.end) || !wait.ended_by.known()) return add_wait(wait, CauseLog::Known::kDelay);
  Wait part = wait;  // until it had done its work for the one that waits
  if (wait.begin < idle) {
    part.end = part.ended_by.time = idle;
    part.waiting = std::min(wait.waiting, idle - wait.begin);
    add_wait(part, CauseLog::Known::kDelay);
    part.begin = idle;
    part.waiting = wait.waiting - part.waiting;
  }
  part.end = wait.end;
  part.ended_by = wait.ended_by;
  add_wait(part, CauseLog::Known::kDirect);
}

void CauseFinder::add_wait(const Wait& wait, CauseLog::Known known) {
  const bool direct = known != CauseLog::Known::kDelay;
  if (!has_room(log_.waits)) [[unlikely]] {
    log_.not_listed += in_ticks(wait.waiting.value);
    return;
  }
  CauseLog::WaitRecord w{};
  w.begin = ticks(wait.begin);
  w.end = ticks(wait.end);
  // Where it lies within its call is not known: at the call's begin as well as anywhere.
  if (!wait.ended_by.known()) w.end = std::min(w.end, w.begin + in_ticks(wait.waiting.value));
  w.by = wait.ended_by.known() ? wait.ended_by.location : kNoLocation;
  const Ticks by_time = wait.ended_by.known() ? ticks(wait.ended_by.time) : w.end;
  const bool for_all =
      !direct && !log_.groups.empty() && wait.operation.number == operation_ &&
      wait.ended_by.known() && by_time == log_.groups.back().last &&
      (!log_.groups.back().waited || log_.groups.back().waits_end == log_.waits.size());
  const bool dependent = wait.ended_by.known() && known != CauseLog::Known::kService;
  if (dependent && !(for_all && log_.groups.back().synchronised)) {
    depend(wait.location, wait.enter, wait.exit, wait.exit_pos, wait.ended_by);
  }
  if (wait.waiting.value < options_.min_wait) {
    log_.not_listed += in_ticks(wait.waiting.value);
    return;
  }
  w.place = place_of(wait);
  w.known = known;
  const auto number = static_cast<WaitId>(log_.waits.size());
  if (for_all) {
    CauseLog::Group& group = log_.groups.back();
    if (!group.waited) group.first_wait = number;
    group.waited = true;
    group.waits_end = number + 1;
    w.known = CauseLog::Known::kOfGroup;
  } else if (!direct && by_time != w.end) {
    log_.late_enders.push_back({by_time, number});
  }
  WaitSpan span{w.begin, w.end, number, log_.stretches.call(wait.call_path)};
  log_.timelines[wait.location].place(span);
  w.length = span.found;
  log_.waits.push_back(w);
  grow(sizeof(CauseLog::WaitRecord));
}

std::uint32_t CauseFinder::place_of(const Wait& wait) {
  const CauseLog::WaitPlace place{wait.location, wait.call_path, wait.metric, wait.operation.id,
                                  wait.operation.object};
  std::uint64_t key = std::uint64_t{place.location} << 32 | place.call_path;
  key = (key ^ std::uint64_t{place.object_id} << 20 ^ place.metric) * 0x9E3779B97F4A7C15u;
  key ^= key >> 29;
  std::uint32_t& recent = recent_places_[key % recent_places_.size()];
  if (recent < log_.places.size() && log_.places[recent] == place) return recent;
  const auto [first, last] = place_numbers_.equal_range(key);
  for (auto known = first; known != last; ++known) {
    if (log_.places[known->second] == place) return recent = known->second;
  }
  recent = static_cast<std::uint32_t>(log_.places.size());
  place_numbers_.emplace(key, recent);
  log_.places.push_back(place);
  return recent;
}

void CauseFinder::depend(LocationIndex location, Seconds enter, Seconds exit,
                         std::uint64_t exit_pos, const EndedBy& by) {
  if (by.location == location || !has_room(log_.dependencies)) return;
  const Ticks end = ticks(exit);
  add_dependency({exit_pos, ticks(enter), end, location},
                 {std::min(end, ticks(by.time)), by.location});
}

// What one call depends on is mostly told at once.
void CauseFinder::add_dependency(DependentCall call, const Dependency& on) {
  if (log_.calls.empty() || !log_.calls.back().is_same(call)) {
    call.first = static_cast<std::uint32_t>(log_.dependencies.size());
    log_.calls.push_back(call);
    grow(sizeof(DependentCall));
  }
  ++log_.calls.back().count;
  log_.dependencies.push_back(on);
  grow(sizeof(Dependency));
}

void CauseFinder::on_moved(CallPathIndex path, LocationIndex location, MetricIndex from,
                           std::optional<MetricIndex> to) {
  if (!to) return;
  for (CauseLog::WaitPlace& place : log_.places) {
    if (place.metric != from || place.call_path != path || place.location != location) continue;
    place.idle = true;
  }
}

void CauseFinder::on_enter_before(const earl::OpenCall& call) {
  Timeline& timeline = log_.timelines[call.index];
  const Ticks time = ticks(call.enter);
  if (!timeline.begun()) {
    enter_around(call, *log_.stretches.library().tree(), classes_,
                 [&](CallPathIndex path, Timeline::Kind kind) {
                   timeline.enter(time, path, kind, log_.stretches);
                 });
  }
  timeline.enter(time, raw(call.cnode), kind_of(call, classes_), log_.stretches);
}

void CauseFinder::on_goes_on(const earl::Call& from) {
  CauseLog::OfRun& of = log_.of_run;
  of.begins_behind = true;
  of.begin = std::max(of.begin, ticks(from.enter));
  const LibraryCalls& library = log_.stretches.library();
  of.in_library = of.in_library || library.around(raw(from.cnode)) != kNoCallPath;
}

std::string CauseFinder::why_apart() const {
  if (log_.of_run.in_library)
    return "it was to be cut in a call of a library, and root causes are looked for";
  return log_.full ? "it has more waits than can be numbered" : "";
}

CausePart& CauseFinder::part(bool goes_on) {
  log_.of_run.goes_on = goes_on;
  return part_ ? *part_ : part_.emplace(log_);
}

RootCauses CauseFinder::finish(const WaitResults& waits, CauseParts* others,
                               std::span<const CallPath> paths) {
  std::vector<CauseRequest::Asked> asked;
  for (const auto* instances : {&waits.worst, &waits.of_places}) {
    for (const Instance& i : *instances) {
      const Waiter& w = i.waiters.front();
      asked.push_back({w.location, w.ended_by.known() ? std::min(w.ended_by.time, w.exit)
                                                      : w.enter + Seconds{w.waiting.seconds()}});
    }
  }
  CauseSolver solver(log_, part(false), others, options_.most);
  earl::CallTree tree(&trace_.definitions());
  LibraryCalls library(tree, trace_.definitions());
  if (others != nullptr) {
    for (const CallPath& path : paths) {
      const auto parent = path.parent == kNone
                              ? absent<CallPathId>()
                              : CallPathId{static_cast<CallPathIndex>(path.parent)};
      tree.add(parent, path.region, path.site, 0);
    }
    solver.use(&library);
  }
  return solver.solve(std::move(asked));
}

}  // namespace kojak::expert
