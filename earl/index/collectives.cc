#include "earl/index/collectives.h"

#include "epilog/format/epoch_moves.h"

namespace kojak::earl::sequence {

void CollectiveSet::leave(const CollectivePlace& place, std::uint64_t pos, ProcessId process) {
  Group& group = groups_in_use_[{place.group, place.role}];
  const std::uint64_t ordinal =
      instances_.take_ordinal(group, place.member, place.members, process, segments_);
  bool made = false;
  const std::uint32_t i = instances_.find(group, ordinal, made);
  CollectiveInstance& instance = instances_[i];
  if (made) {
    instance.group = place.group;
    instance.role = place.role;
    instance.size = place.present;
  }
  instance.exits.push_back(pos);
  using Joined = Instances::Joined;
  const Joined joined =
      instances_.joined(group, i, [&](const CollectiveInstance& given_up) { log(given_up, pos); });
  if (joined == Joined::kComplete) log(instance, pos);
}

void CollectiveSet::resume(const Key& key, std::uint32_t member, std::uint32_t members,
                           std::uint64_t count) {
  instances_.resume(groups_in_use_[key], member, members, count);
}

void CollectiveSet::drop(const Key& key, std::uint64_t pos) {
  const auto it = groups_in_use_.find(key);
  if (it == groups_in_use_.end()) return;
  instances_.give_up(it->second, [&](const CollectiveInstance& c) { log(c, pos); });
  groups_in_use_.erase(it);
}

// Each thread of a process writes its own LOG_OFF; the process pauses once.
void CollectiveSet::pause(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  const ProcessId process = trace_->process(i);
  if (++pauses_[i] > segments_.number(process)) segments_.pause(process);
}

void CollectiveSet::log(const CollectiveInstance& instance, std::uint64_t end) {
  if (log_ == nullptr) return;
  contents_.clear();
  {
    NumberWriter out(contents_);
    // Below the group: whether it has a role, whether members are missing.
    const std::size_t missing = instance.size - instance.exits.size();
    const bool has_role = instance.role != MpiRole::kOther;
    out.numbers(std::uint64_t{instance.group} << 2 | (has_role ? 2 : 0) | (missing != 0 ? 1 : 0),
                instance.ordinal);
    if (has_role) out.number(static_cast<std::uint64_t>(instance.role));
    if (missing != 0) out.number(missing);
    std::uint64_t before = instance.exits.front();
    for (const std::uint64_t pos : std::span(instance.exits).subspan(1)) {
      out.number(pos - before);
      before = pos;
    }
  }
  log_->add(instance.exits.front(), end, contents_);
}

void CollectiveSet::end_record(std::uint64_t end) {
  for (const auto& [key, group] : groups_in_use_) {
    for (std::size_t i = group.head; i < group.open.size(); ++i) {
      log(instances_[group.open[i].instance], end);
    }
  }
}

// Into an object that nothing has been applied to.
void CollectiveSet::restore(const IntervalColumn& log, std::uint64_t pos) {
  const auto read = [&](const IntervalColumn::Row& row) {
    CollectiveInstance instance;
    NumberReader in(row.contents);
    const std::uint64_t head = in.number();
    instance.group = static_cast<std::uint32_t>(head >> 2);
    in.get(instance.ordinal);
    if ((head & 2) != 0) in.get(instance.role);
    if ((head & 1) != 0) in.get(instance.size);
    for (std::uint64_t exit = row.begin;; exit += in.number()) {
      ++instance.size;
      if (exit <= pos) instance.exits.push_back(exit);
      if (in.at_end()) return instance;
    }
  };
  log.at(pos, [&](const IntervalColumn::Row& row) {
    CollectiveInstance instance = read(row);
    Group& group = groups_in_use_[{instance.group, instance.role}];
    bool made = false;
    instances_[instances_.find(group, instance.ordinal, made)] = std::move(instance);
  });
  log.ending(pos, pos, [&](const IntervalColumn::Row& row) {
    CollectiveInstance instance = read(row);
    if (instance.complete()) instances_.restore_complete() = std::move(instance);
  });
}

// ---- exit types

namespace {

bool place_in(const Trace& trace, const detail::GroupInfo* info, const Event& e,
              CollectivePlace& place) {
  const std::uint32_t i = trace.index(e.loc);
  if (info == nullptr || i == kAbsent) return false;
  place.member = info->ranks.find(trace.process(i));
  place.members = info->ranks.size();
  place.present = info->present;
  return place.member != kAbsent;
}

}  // namespace

bool MpiExit::place(const Trace& trace, detail::GroupTable& groups, const Event& e,
                    CollectivePlace& place) {
  const detail::GroupInfo* info = groups.find(e.com);
  place.group = raw(e.com);
  return info != nullptr && info->def->identity_known && place_in(trace, info, e, place);
}

bool ShmemExit::place(const Trace& trace, detail::GroupTable& groups, const Event& e,
                      CollectivePlace& place) {
  return MpiExit::place(trace, groups, e, place);
}

bool WindowExit::place(const Trace& trace, detail::GroupTable& groups, const Event& e,
                       CollectivePlace& place) {
  const WindowDef* window = groups.window(e.win);
  if (window == nullptr || !window->identity_known) return false;
  place.group = raw(e.win);
  if (e.type == EventType::kWinState) {
    place.role = MpiRole::kWinFence;
  } else {
    place.role = trace.definitions().role(e.reg);
    if (collective_exit_move(place.role) == EpochMove::kNone) return false;
  }
  return place_in(trace, groups.find(window->comm), e, place);
}

bool OmpExit::place(const Trace& trace, detail::GroupTable&, const Event& e,
                    CollectivePlace& place) {
  const std::uint32_t here = trace.index(e.loc);
  if (here == kAbsent) return false;
  const ProcessId process = trace.process(here);
  place.group = raw(process);
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    if (trace.process(i) != process) continue;
    if (i == here) place.member = place.members;
    ++place.members;
  }
  place.present = place.members;
  return true;
}

}  // namespace kojak::earl::sequence
