#include "earl/sequence/collectives.h"

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
  instances_.joined(group, i);
}

void CollectiveSet::resume(const Key& key, std::uint32_t member, std::uint32_t members,
                           std::uint64_t count) {
  instances_.resume(groups_in_use_[key], member, members, count);
}

void CollectiveSet::drop(const Key& key) {
  const auto it = groups_in_use_.find(key);
  if (it == groups_in_use_.end()) return;
  instances_.give_up(it->second, [](const CollectiveInstance&) {});
  groups_in_use_.erase(it);
}

// Each thread of a process writes its own LOG_OFF; the process pauses once.
void CollectiveSet::pause(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  const ProcessId process = trace_->process(i);
  if (++pauses_[i] > segments_.number(process)) segments_.pause(process);
}

namespace {

void save_instance(BlobWriter& out, const CollectiveInstance& instance) {
  out.numbers(instance.ordinal, instance.size, instance.exits.size());
  for (const std::uint64_t pos : instance.exits) out.number(pos);
}

void load_exits(BlobReader& in, CollectiveInstance& instance) {
  instance.exits.resize(in.count());
  for (std::uint64_t& pos : instance.exits) in.get(pos);
}

}  // namespace

void CollectiveSet::save(BlobWriter& out) const {
  out.number(groups_in_use_.size());
  for (const auto& [key, group] : groups_in_use_) {
    out.numbers(key.first, key.second, group.members, group.next.size());
    for (const std::uint64_t n : group.next) out.number(n);
    out.number(group.open.size() - group.head);
    for (std::size_t i = group.head; i < group.open.size(); ++i) {
      save_instance(out, instances_[group.open[i].instance]);
    }
  }
  for (const std::uint32_t n : segments_.numbers()) out.number(n);
  for (const std::uint32_t n : pauses_) out.number(n);
  out.number(complete() != nullptr);
  if (complete() == nullptr) return;
  save_instance(out, *complete());
  out.numbers(complete()->group, complete()->role);
}

// Into an object that nothing has been applied to.
void CollectiveSet::load(BlobReader& in) {
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    Key key;
    in.numbers(key.first, key.second);
    Group& group = groups_in_use_[key];
    in.get(group.members);
    group.next.resize(in.count());
    for (std::uint64_t& next : group.next) in.get(next);
    for (std::size_t i = in.count(); i > 0 && in.ok(); --i) {
      std::uint64_t ordinal = 0;
      std::uint32_t size = 0;
      in.numbers(ordinal, size);
      bool made = false;
      CollectiveInstance& instance = instances_[instances_.find(group, ordinal, made)];
      instance.group = key.first;
      instance.role = key.second;
      instance.size = size;
      load_exits(in, instance);
    }
  }
  for (std::uint32_t& n : segments_.numbers()) in.get(n);
  for (std::uint32_t& n : pauses_) in.get(n);
  if (in.number() == 0) return;
  CollectiveInstance& instance = instances_.restore_complete();
  in.numbers(instance.ordinal, instance.size);
  load_exits(in, instance);
  in.numbers(instance.group, instance.role);
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
    const RegionDef* region = trace.definitions().regions.find(e.reg);
    place.role =
        region != nullptr && region->function != nullptr ? region->function->role : MpiRole::kOther;
    if (place.role != MpiRole::kWinCreate && place.role != MpiRole::kWinFence &&
        place.role != MpiRole::kWinFree) {
      return false;
    }
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
