// The part of a causal pass that joins the members of a call of several processes. Internal to
// causal_pass.cc.
//
// A member arrives at its exit. When all have come that will come, each that leaves with data is
// moved behind those that it provably needs (call_causes.h), and goes on. Until then it waits for
// all, because MPI lets every collective call synchronise all its members: a program that depends
// on the contrary is wrong, and is broken up like any other circle. Not thread-safe. Nothing fails.
// Source: MPI 3.1, section 5.1.
#pragma once

#include <array>

#include "merge/call_places.h"
#include "merge/causal_messages.h"
#include "merge/transfer_ends.h"

namespace kojak::merge {

class CausalInstances : protected CausalMessages {
 protected:
  CausalInstances(const CausalInputs& in, const Timelines& timelines, bool correcting)
      : CausalMessages(in, timelines, correcting), places_(defs_) {}

  enum InstanceKind : std::uint8_t { kCollectiveCall, kFenceCall };

  // Whom a process waits for in its call: somebody who has not come to it.
  std::uint32_t missing_member(const CausalProcess& p) const {
    const auto [kind, object, number] = p.instance;
    for (const auto group : members_of(kind, object)) {
      for (const std::uint32_t rank : group) {
        if (will_come(rank, kind, object, number) &&
            !(processes_[rank].in_instance && processes_[rank].instance == p.instance)) {
          return rank;
        }
      }
    }
    return kAbsent;
  }

  // The process ends without having come to these calls.
  void leave_instances(const CausalProcess& p) {
    for (auto it = instances_.begin(); it != instances_.end();) {
      const auto at = it++;
      const auto [kind, object, number] = at->first;
      if (progress(p, kind, object) >= number) continue;
      for (const auto group : members_of(kind, object)) {
        if (std::find(group.begin(), group.end(), p.rank) == group.end()) continue;
        lose_member(at);
        break;
      }
    }
  }
  // It waits no longer for the others of its call.
  void resolve_without(const CausalProcess& p) {
    const auto at = instances_.find(p.instance);
    if (at != instances_.end()) resolve(at);
  }
  // The process has been through these calls unseen.
  void skip_calls(std::uint8_t kind, std::uint32_t object, std::uint64_t from, std::uint64_t to) {
    auto it = instances_.upper_bound({kind, object, from});
    while (it != instances_.end() && it->first <= InstanceKey{kind, object, to}) lose_member(it++);
  }

  void arrive(CausalProcess& p, const InstanceKey& key, const Arrival& arrival,
              CallRule rule = CallRule::kAll) {
    const auto [at, fresh] = instances_.try_emplace(key);
    Instance& instance = at->second;
    const auto [kind, object, number] = key;
    if (fresh) {
      instance.rule = rule;
      for (const auto group : members_of(kind, object)) {
        for (const std::uint32_t rank : group) {
          if (will_come(rank, kind, object, number)) ++instance.expected;
        }
      }
    }
    instance.arrivals.push_back(arrival);
    if (arrival.effect) {
      p.instance = key;
      p.in_instance = true;
    }
    if (instance.arrivals.size() >= instance.expected) resolve(at);
  }

  CallPlaces places_;

 private:
  using Instances = std::map<InstanceKey, Instance>;
  using Groups = std::array<std::span<const std::uint32_t>, 2>;

  // The second group is that of an intercommunicator, or empty.
  Groups members_of(std::uint8_t kind, std::uint32_t object) const {
    const std::uint32_t id = kind == kCollectiveCall ? object : defs_.windows[object].comm;
    if (id == kAbsent) return {};
    const MergedComm& comm = defs_.comms[id];
    Groups groups{comm.ranks};
    if (comm.intercommunicator()) groups[1] = comm.remote;
    return groups;
  }
  // How many such calls the process has behind it.
  static std::uint64_t progress(const CausalProcess& p, std::uint8_t kind, std::uint32_t object) {
    if (kind == kCollectiveCall) {
      const auto at = p.collectives.find(object);
      return at != p.collectives.end() ? at->second : 0;
    }
    const WindowEpochs* w = const_cast<ProcessEpochs&>(p.epochs).find(object);
    return w != nullptr ? w->fences : 0;
  }
  bool will_come(std::uint32_t rank, std::uint8_t kind, std::uint32_t object,
                 std::uint64_t number) const {
    return rank < processes_.size() && !processes_[rank].ended &&
           progress(processes_[rank], kind, object) < number;
  }

  void lose_member(Instances::iterator at) {
    Instance& instance = at->second;
    ++counts_.unchecked;
    if (--instance.expected <= instance.arrivals.size()) resolve(at);
  }

  // All have come: nobody leaves before those that it needs have entered.
  void resolve(Instances::iterator at) {
    const InstanceKey key = at->first;
    const Instance instance = std::move(at->second);
    instances_.erase(at);
    std::vector<CallMember> members = members_at(key, instance);
    CallNeighbours neighbours;
    if (instance.rule == CallRule::kNear || instance.rule == CallRule::kNearSupply) {
      neighbours = neighbours_at(key, instance);
    }
    if (counts_supply(instance.rule)) leave_out_unknown(key, instance.rule, neighbours, members);
    const std::vector<std::size_t> needed = last_needed(members, instance.rule, neighbours);
    std::vector<std::size_t> recorded = needed;
    if (correcting_) {
      std::vector<CallMember> as_recorded = members;
      for (std::size_t m = 0; m < members.size(); ++m) {
        as_recorded[m].enter = instance.arrivals[m].enter.linear;
      }
      recorded = last_needed(as_recorded, instance.rule, neighbours);
    }
    std::vector<double> exits(members.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Arrival& arrival = instance.arrivals[m];
      exits[m] = arrival.exit;
      if (!arrival.effect) continue;
      CausalProcess& p = processes_[arrival.enter.process];
      if (recorded[m] != kNoMember) {
        count(instance.arrivals[recorded[m]].enter.linear, arrival.linear);
      }
      if (needed[m] != kNoMember) {
        const Cause& cause = instance.arrivals[needed[m]].enter;
        if (behind(cause, p, exits[m])) exits[m] = after(cause.time);
        p.earliest = exits[m];
      }
      p.in_instance = false;
      enqueue(p);
    }
    if (!correcting_) return;
    const std::vector<double> limits = latest_enters(members, instance.rule, exits, neighbours);
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Cause& enter = instance.arrivals[m].enter;
      if (limits[m] < std::numeric_limits<double>::infinity()) {
        timelines_[enter.process]->limit(enter.item, limits[m]);
      }
    }
  }
  // The members as they entered, by corrected time.
  std::vector<CallMember> members_at(const InstanceKey& key, const Instance& instance) {
    const CommPlaces* places = nullptr;
    const bool across =
        instance.rule == CallRule::kAcross || instance.rule == CallRule::kAcrossSupply;
    if (across || instance.rule == CallRule::kLower) places = &places_.of(std::get<1>(key));
    std::vector<CallMember> members;
    members.reserve(instance.arrivals.size());
    for (const Arrival& a : instance.arrivals) {
      CallMember& member = members.emplace_back(
          CallMember{a.enter.process, 0, a.enter.time, a.cause, a.effect, a.sent, a.got});
      if (places == nullptr) continue;
      const std::uint32_t place = places->place_of(member.process);
      member.order = !across ? place : place < places->first_group ? 0 : 1;
    }
    return members;
  }
  // By index of the members; kNoMember for one who has not come.
  CallNeighbours neighbours_at(const InstanceKey& key, const Instance& instance) {
    const CommPlaces& places = places_.of(std::get<1>(key));
    CallNeighbours neighbours(instance.arrivals.size());
    std::vector<std::size_t> member_at(places.ranks.size(), kNoMember);
    for (std::size_t m = 0; m < instance.arrivals.size(); ++m) {
      const std::uint32_t place = places.place_of(instance.arrivals[m].enter.process);
      if (place != kAbsent) member_at[place] = m;
    }
    for (std::size_t m = 0; m < instance.arrivals.size(); ++m) {
      const std::uint32_t place = places.place_of(instance.arrivals[m].enter.process);
      if (place == kAbsent || !places.grid) continue;
      for (const std::uint32_t near : neighbours_of(*places.grid, place).places) {
        neighbours[m].push_back(member_at[near]);
      }
    }
    return neighbours;
  }
  // Sums prove something if they are known of all that can have sent to a member; and where not
  // only neighbours can, if all that was received was sent. Else a member needs nobody, and is
  // counted.
  void leave_out_unknown(const InstanceKey& key, CallRule rule, const CallNeighbours& neighbours,
                         std::vector<CallMember>& members) {
    const auto unknown = [&](std::size_t m) {
      return m == kNoMember || members[m].sent == kNoBytes;
    };
    const bool near = rule == CallRule::kNearSupply;
    const bool known = near || supply_known(key, rule, members);
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (!members[m].effect) continue;
      if (known && members[m].got != kNoBytes &&
          !(near && std::any_of(neighbours[m].begin(), neighbours[m].end(), unknown))) {
        continue;
      }
      members[m].effect = false;
      ++counts_.unchecked;
    }
  }
  // All came with known counts, and all that was received was sent, by those who could.
  bool supply_known(const InstanceKey& key, CallRule rule,
                    const std::vector<CallMember>& members) const {
    if (defs_.comms[std::get<1>(key)].foreign_members()) return false;  // who record elsewhere
    const bool across = rule == CallRule::kAcrossSupply;
    std::array<std::uint64_t, 2> sent{}, got{};  // by the group that sent it
    for (const CallMember& member : members) {
      if (member.sent == kNoBytes || member.got == kNoBytes) return false;
      sent[across ? member.order : 0] += member.sent;
      got[across ? 1 - member.order : 0] += member.got;
    }
    const Groups groups = members_of(std::get<0>(key), std::get<1>(key));
    return sent == got && members.size() == groups[0].size() + groups[1].size();
  }

  Instances instances_;
};

}  // namespace kojak::merge
