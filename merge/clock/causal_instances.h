// The part of a causal pass that joins the members of a call of several processes. Internal to
// causal_pass.cc.
//
// A member arrives at its exit. When all have come that will come, each that leaves with data is
// moved behind those that it provably needs (call_parts.h), and goes on. Until then it waits for
// all, because MPI lets every collective call synchronise all its members. A program that needs a
// call not to do so is wrong; then processes wait for each other in a circle, which is broken up
// like any other.
// Source: MPI 3.1, section 5.1.
#pragma once

#include <array>

#include "merge/clock/call_parts.h"
#include "merge/clock/causal_state.h"

namespace kojak::merge {

enum InstanceKind : std::uint8_t { kCollectiveCall, kFenceCall };

class CausalInstances {
 public:
  explicit CausalInstances(CausalState& state) : state_(state), parts_(state.defs) {}

  // A member that has not come to the call in which the process waits.
  std::uint32_t missing_member(const CausalProcess& p) const {
    const auto [kind, object, number] = p.instance;
    for (const auto group : members_of(kind, object)) {
      for (const std::uint32_t rank : group) {
        if (will_come(rank, kind, object, number) &&
            !(state_.processes[rank].in_instance &&
              state_.processes[rank].instance == p.instance)) {
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
  // The process no longer waits for the others of its call.
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

  CallParts& parts() { return parts_; }

 private:
  using Instances = std::map<InstanceKey, Instance>;
  using Groups = std::array<std::span<const std::uint32_t>, 2>;

  // The second group is that of an intercommunicator, or empty.
  Groups members_of(std::uint8_t kind, std::uint32_t object) const {
    const std::uint32_t id = kind == kCollectiveCall ? object : state_.defs.windows[object].comm;
    if (id == kAbsent) return {};
    const MergedComm& comm = state_.defs.comms[id];
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
    return w != nullptr ? w->standing.fences : 0;
  }
  bool will_come(std::uint32_t rank, std::uint8_t kind, std::uint32_t object,
                 std::uint64_t number) const {
    return rank < state_.processes.size() && !state_.processes[rank].ended &&
           progress(state_.processes[rank], kind, object) < number;
  }

  void lose_member(Instances::iterator at) {
    Instance& instance = at->second;
    ++state_.counts.unchecked;
    if (--instance.expected <= instance.arrivals.size()) resolve(at);
  }

  // All have come: nobody leaves before those that it needs have entered.
  void resolve(Instances::iterator at) {
    const InstanceKey key = at->first;
    const Instance instance = std::move(at->second);
    instances_.erase(at);
    const std::uint32_t comm = std::get<0>(key) == kCollectiveCall ? std::get<1>(key) : kAbsent;
    const SettledCall call =
        parts_.settle(comm, instance.rule, instance.arrivals, state_.correcting);
    std::vector<double> exits(call.members.size());
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      const Arrival& arrival = instance.arrivals[m];
      exits[m] = arrival.exit;
      if (!arrival.effect) continue;
      if (call.unknown[m]) ++state_.counts.unchecked;
      CausalProcess& p = state_.processes[arrival.enter.process];
      if (call.recorded[m] != kNoMember) {
        state_.count(instance.arrivals[call.recorded[m]].enter.linear, arrival.linear);
      }
      if (call.needed[m] != kNoMember) {
        const Cause& cause = instance.arrivals[call.needed[m]].enter;
        if (state_.behind(cause, p, exits[m])) exits[m] = after(cause.time);
        p.earliest = exits[m];
      }
      p.in_instance = false;
      state_.enqueue(p);
    }
    if (!state_.correcting) return;
    const std::vector<double> limits =
        latest_enters(call.members, instance.rule, exits, call.neighbours);
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      const Cause& enter = instance.arrivals[m].enter;
      if (limits[m] < std::numeric_limits<double>::infinity()) {
        state_.timelines[enter.process]->limit(enter.item, limits[m]);
      }
    }
  }

  CausalState& state_;
  CallParts parts_;
  Instances instances_;
};

}  // namespace kojak::merge
