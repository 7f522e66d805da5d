#include "earl/sequence/collectives.h"

#include <algorithm>

namespace kojak::earl::sequence {

std::size_t CollectiveSet::open() const {
  std::size_t n = 0;
  for_each([&](const CollectiveInstance&) { ++n; });
  return n;
}

void CollectiveSet::leave(const CollectivePlace& place, std::uint64_t pos, ProcessId process) {
  Group& group = groups_in_use_[{place.group, place.role}];
  if (group.next.size() < place.members) group.next.resize(place.members);
  std::uint64_t& next = group.next[place.member];
  if (!trace_->native() && raw(process) < segments_.size()) {
    // The ordinal of a classic trace begins anew with each recording segment.
    next = std::max(next, std::uint64_t{segments_[raw(process)]} << 40);
  }
  const std::uint64_t ordinal = next++;
  auto it = group.open.find(ordinal);
  if (it == group.open.end()) {
    it = make(group, ordinal);
    it->second.group = place.group;
    it->second.role = place.role;
    it->second.size = place.present;
  }
  it->second.exits.push_back(pos);
  ++group.exits;
  if (it->second.complete()) {
    std::swap(complete_, it->second);
    has_complete_ = true;
    group.exits -= complete_.exits.size();
    spare_.push_back(group.open.extract(it));
  } else if (group.exits > std::max(kMaxExits, 4 * group.next.size())) {
    group.exits -= group.open.begin()->second.exits.size();
    spare_.push_back(group.open.extract(group.open.begin()));
  }
}

// A new instance, in what was allocated for an earlier one if possible.
CollectiveSet::Open::iterator CollectiveSet::make(Group& group, std::uint64_t ordinal) {
  if (spare_.empty()) {
    const auto it = group.open.emplace(ordinal, CollectiveInstance{}).first;
    it->second.ordinal = ordinal;
    return it;
  }
  Open::node_type node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = ordinal;
  node.mapped().ordinal = ordinal;
  node.mapped().exits.clear();
  return group.open.insert(std::move(node)).position;
}

void CollectiveSet::resume(const Key& key, std::uint32_t member, std::uint32_t members,
                           std::uint64_t count) {
  Group& group = groups_in_use_[key];
  if (group.next.size() < members) group.next.resize(members);
  group.next[member] = std::max(group.next[member], count);
}

// Each thread of a process writes its own LOG_OFF; the process pauses once.
void CollectiveSet::pause(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  std::uint32_t& segments = segments_[raw(trace_->process(i))];
  if (++pauses_[i] > segments) ++segments;
}

namespace {

void save_instance(BlobWriter& out, const CollectiveInstance& instance) {
  out.numbers(instance.group, instance.role, instance.ordinal, instance.size,
              instance.exits.size());
  for (const std::uint64_t pos : instance.exits) out.number(pos);
}

CollectiveInstance load_instance(BlobReader& in) {
  CollectiveInstance instance;
  in.numbers(instance.group, instance.role, instance.ordinal, instance.size);
  instance.exits.resize(in.count());
  for (std::uint64_t& pos : instance.exits) in.get(pos);
  return instance;
}

}  // namespace

void CollectiveSet::save(BlobWriter& out) const {
  out.number(groups_in_use_.size());
  for (const auto& [key, group] : groups_in_use_) {
    out.numbers(key.first, key.second, group.exits, group.next.size());
    for (const std::uint64_t n : group.next) out.number(n);
    out.number(group.open.size());
    for (const auto& [ordinal, instance] : group.open) save_instance(out, instance);
  }
  for (const std::uint32_t n : segments_) out.number(n);
  for (const std::uint32_t n : pauses_) out.number(n);
  out.number(has_complete_);
  if (has_complete_) save_instance(out, complete_);
}

void CollectiveSet::load(BlobReader& in) {
  groups_in_use_.clear();
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    Key key;
    in.numbers(key.first, key.second);
    Group& group = groups_in_use_[key];
    in.get(group.exits);
    group.next.resize(in.count());
    for (std::uint64_t& next : group.next) in.get(next);
    for (std::size_t i = in.count(); i > 0 && in.ok(); --i) {
      CollectiveInstance instance = load_instance(in);
      const std::uint64_t ordinal = instance.ordinal;
      group.open.emplace(ordinal, std::move(instance));
    }
  }
  for (std::uint32_t& n : segments_) in.get(n);
  for (std::uint32_t& n : pauses_) in.get(n);
  in.get(has_complete_);
  if (has_complete_) complete_ = load_instance(in);
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
