// The part of a causal pass that knows calls of several processes: collectives, fences, and general
// active target. Internal to causal_pass.cc.
//
// Who enters with data is a cause, who leaves with data an effect: a call without bytes need not
// wait. Who waits for whom tells call_causes.h. A fence counts where it ends an epoch and is not
// said to do so for nobody (MPI_MODE_NOPRECEDE). Not thread-safe. Nothing fails. Source: MPI 3.1,
// sections 5.1 and 11.5.
#pragma once

#include "merge/causal_messages.h"
#include "merge/transfer_ends.h"

namespace kojak::merge {

class CausalCalls : protected CausalMessages {
 protected:
  using CausalMessages::CausalMessages;

  void collective(CausalProcess& p) {
    const CausalThread& t = p.current();
    const Stream& s = t.stream;
    MpiCollExit r;
    if (decode(s.raw_record(), s.dialect, r) != nullptr) return;
    const std::uint32_t comm = paired_comm(s, r.cid);
    if (comm == kAbsent) return;
    const std::uint64_t number = p.collectives[comm] + 1;
    const MergedRegion* region = open_region(t);
    if (region != nullptr && !defs_.comms[comm].ranks.empty() &&
        (defs_.comms[comm].flags & 2) == 0) {
      Arrival arrival{t.stack.back().enter, p.time, p.linear};
      const bool root = raw(r.rlid) == p.rank;
      bool waits = true;
      CallRule rule = CallRule::kAll;
      switch (region->role) {
        case MpiRole::kBarrier:
          arrival.cause = arrival.effect = true;
          break;
        case MpiRole::kAllToAll:
          arrival.cause = raw(r.sent) != 0;
          arrival.effect = raw(r.recvd) != 0;
          if (!is_irregular(*region)) break;
          rule = CallRule::kSupply;
          arrival.sent = bytes_of(s, raw(r.sent), kSentAttribute);
          arrival.got = bytes_of(s, raw(r.recvd), kReceivedAttribute);
          arrival.effect = arrival.got > arrival.sent;
          break;
        case MpiRole::kPrefix:
          rule = CallRule::kLower;
          arrival.cause = raw(r.sent) != 0;
          arrival.effect = raw(r.recvd) != 0;
          break;
        case MpiRole::kOneToAll:
          arrival.cause = root;
          arrival.effect = !root && raw(r.recvd) != 0;
          break;
        case MpiRole::kAllToOne:
          arrival.cause = !root && raw(r.sent) != 0;
          arrival.effect = root;
          break;
        default:
          waits = false;
      }
      if (waits) arrive(p, {kCollectiveCall, comm, number}, arrival, rule);
    }
    p.collectives[comm] = number;
  }
  void collective_state(CausalProcess& p) {
    const Stream& s = p.current().stream;
    CollState state;
    if (decode(s.raw_record(), s.dialect, state) != nullptr) return;
    const std::uint32_t comm = paired_comm(s, state.cid);
    if (comm == kAbsent) return;
    std::uint64_t& calls = p.collectives[comm];
    skip_calls(kCollectiveCall, comm, calls, raw(state.count));
    calls = std::max(calls, std::uint64_t{raw(state.count)});
  }

  // Records that move a window's state.
  void synchronise(CausalProcess& p) {
    CausalThread& t = p.current();
    const Stream& s = t.stream;
    const MergedRegion* region = open_region(t);
    Sync sync;
    if (!decode_sync(s.raw_record(), s.dialect, region != nullptr ? region->role : MpiRole::kOther,
                     t.assertion, sync)) {
      return;
    }
    const std::uint32_t window = s.translation->windows[sync.window];
    if (window == kAbsent || (sync.target != kAbsent && sync.target >= processes_.size())) return;
    sync.window = window;
    std::span<const std::uint32_t> members;
    if (sync.comm != kAbsent) {
      const std::uint32_t comm = s.translation->comms[sync.comm];
      if (comm != kAbsent) members = defs_.comms[comm].ranks;
    }
    WindowEpochs& w = p.epochs.window(window, false);
    const std::uint64_t fences = w.fences;
    if (defs_.windows[window].paired()) depend(p, sync, w, members);
    apply_sync(w, sync, members, false);
    if (sync.kind == SyncKind::kWinState) skip_calls(kFenceCall, window, fences, w.fences);
    if (sync.kind == SyncKind::kPeerState) skip_epochs(p, sync);
  }
  // Whom a process waits for in its call: somebody who has not come to it.
  std::uint32_t missing_member(const CausalProcess& p) const {
    const auto [kind, object, number] = p.instance;
    for (const std::uint32_t rank : members_of(kind, object)) {
      if (rank < processes_.size() && !processes_[rank].ended &&
          progress(processes_[rank], kind, object) < number &&
          !(processes_[rank].in_instance && processes_[rank].instance == p.instance)) {
        return rank;
      }
    }
    return kAbsent;
  }

  // The process ends without having come to these calls.
  void leave_instances(const CausalProcess& p) {
    for (auto it = instances_.begin(); it != instances_.end();) {
      const auto at = it++;
      const auto [kind, object, number] = at->first;
      const std::vector<std::uint32_t>& ranks = members_of(kind, object);
      if (std::find(ranks.begin(), ranks.end(), p.rank) != ranks.end() &&
          progress(p, kind, object) < number) {
        lose_member(at);
      }
    }
  }
  // It waits no longer for the others of its call.
  void resolve_without(const CausalProcess& p) {
    const auto at = instances_.find(p.instance);
    if (at != instances_.end()) resolve(at);
  }

 private:
  enum InstanceKind : std::uint8_t { kCollectiveCall, kFenceCall };
  using Instances = std::map<InstanceKey, Instance>;

  const MergedRegion* open_region(const CausalThread& t) const {
    if (t.stack.empty() || t.stack.back().region == kAbsent) return nullptr;
    return &defs_.regions[t.stack.back().region];
  }
  const std::vector<std::uint32_t>& members_of(std::uint8_t kind, std::uint32_t object) const {
    static const std::vector<std::uint32_t> kNobody;
    const std::uint32_t comm = kind == kCollectiveCall ? object : defs_.windows[object].comm;
    return comm != kAbsent ? defs_.comms[comm].ranks : kNobody;
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

  // Each pair of members has its own count.
  static bool is_irregular(const MergedRegion& region) {
    const MpiFunction* function = find_mpi_function(region.name);
    return function != nullptr &&
           (function->name == "MPI_Alltoallv" || function->name == "MPI_Alltoallw");
  }
  // A count that the record cannot hold stands in an attribute before it; without one nobody knows.
  static std::uint64_t bytes_of(const Stream& s, std::uint32_t field, std::uint8_t kind) {
    if (field != kAbsent) return field;
    std::uint64_t bytes = kNoBytes;
    for (const std::byte* a = s.attributes; a != nullptr && a < s.record;
         a += std::size_t{2} + static_cast<std::uint8_t>(a[0])) {
      const RawRecord record{static_cast<std::uint8_t>(a[1]), static_cast<std::uint8_t>(a[0]),
                             a + 2, 0};
      if (byte_attribute(record, s.dialect, kind, bytes)) break;
    }
    return bytes;
  }

  void arrive(CausalProcess& p, const InstanceKey& key, const Arrival& arrival,
              CallRule rule = CallRule::kAll) {
    const auto [at, fresh] = instances_.try_emplace(key);
    Instance& instance = at->second;
    if (fresh) instance.rule = rule;
    const auto [kind, object, number] = key;
    if (fresh) {
      for (const std::uint32_t rank : members_of(kind, object)) {
        if (rank < processes_.size() && !processes_[rank].ended &&
            progress(processes_[rank], kind, object) < number) {
          ++instance.expected;
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
  void lose_member(Instances::iterator at) {
    Instance& instance = at->second;
    ++counts_.unchecked;
    if (--instance.expected <= instance.arrivals.size()) resolve(at);
  }
  void skip_calls(std::uint8_t kind, std::uint32_t object, std::uint64_t from, std::uint64_t to) {
    auto it = instances_.upper_bound({kind, object, from});
    while (it != instances_.end() && it->first <= InstanceKey{kind, object, to}) lose_member(it++);
  }

  // Posts and completes that happened while recording was off will not be seen.
  void skip_epochs(const CausalProcess& p, const Sync& sync) {
    constexpr std::uint8_t kAccessOpen = 1;
    const std::uint32_t peer = sync.target;
    if (!absolute_ || peer == kAbsent || !recorded(peer)) return;
    const std::uint64_t completes = sync.first - ((sync.open & kAccessOpen) != 0 ? 1 : 0);
    channels_.skip_causes({ChannelKind::kCompleteWait, sync.window, p.rank, peer, 0}, completes);
    for (const ChannelKind kind : {ChannelKind::kPostComplete, ChannelKind::kPostStart}) {
      channels_.skip_causes({kind, sync.window, p.rank, peer, 0}, sync.second);
    }
  }

  // All have come: nobody leaves before those that it needs have entered.
  void resolve(Instances::iterator at) {
    const InstanceKey key = at->first;
    const Instance instance = std::move(at->second);
    instances_.erase(at);
    std::vector<CallMember> members = members_at(key, instance, &Cause::time);
    const bool known = instance.rule != CallRule::kSupply || supply_known(key, members);
    std::vector<std::size_t> needed(members.size(), kNoMember), recorded = needed;
    if (known) {
      needed = last_needed(members, instance.rule);
      recorded = correcting_ ? last_needed(members_at(key, instance, &Cause::linear), instance.rule)
                             : needed;
    }
    std::vector<double> exits(members.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Arrival& arrival = instance.arrivals[m];
      exits[m] = arrival.exit;
      if (!arrival.effect) continue;
      CausalProcess& p = processes_[arrival.enter.process];
      if (!known) ++counts_.unchecked;
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
    if (!correcting_ || !known) return;
    const std::vector<double> limits = latest_enters(members, instance.rule, exits);
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Cause& enter = instance.arrivals[m].enter;
      if (limits[m] < std::numeric_limits<double>::infinity()) {
        timelines_[enter.process]->limit(enter.item, limits[m]);
      }
    }
  }
  // The members as they entered, by corrected or by recorded time.
  std::vector<CallMember> members_at(const InstanceKey& key, const Instance& instance,
                                     double Cause::*when) const {
    std::vector<CallMember> members;
    members.reserve(instance.arrivals.size());
    std::unordered_map<std::uint32_t, std::uint32_t> place;
    if (instance.rule == CallRule::kLower) {
      const auto& ranks = members_of(std::get<0>(key), std::get<1>(key));
      for (std::uint32_t i = 0; i < ranks.size(); ++i) place.emplace(ranks[i], i);
    }
    for (const Arrival& a : instance.arrivals) {
      const std::uint32_t process = a.enter.process;
      members.push_back({process, place.empty() ? 0 : place[process], a.enter.*when, a.cause,
                         a.effect, a.sent, a.got});
    }
    return members;
  }
  // All came with known counts, and all that was received was sent.
  bool supply_known(const InstanceKey& key, const std::vector<CallMember>& members) const {
    std::uint64_t sent = 0, got = 0;
    for (const CallMember& member : members) {
      if (member.sent == kNoBytes || member.got == kNoBytes) return false;
      sent += member.sent;
      got += member.got;
    }
    return sent == got && members.size() == members_of(std::get<0>(key), std::get<1>(key)).size();
  }

  // What the record depends on, and what depends on it, before it is applied.
  void depend(CausalProcess& p, const Sync& sync, WindowEpochs& w,
              std::span<const std::uint32_t> members) {
    const CausalThread& t = p.current();
    const Cause enter = t.stack.empty() ? Cause{} : t.stack.back().enter;
    const auto channel = [&](ChannelKind kind, std::uint32_t from, std::uint32_t to) {
      return ChannelKey{kind, sync.window, from, to, 0};
    };
    switch (sync.kind) {
      case SyncKind::kFence: {
        const bool ends = w.fence_open && (t.assertion & kAssertNoPrecede) == 0;
        arrive(p, {kFenceCall, sync.window, w.fences + 1}, {enter, p.time, p.linear, ends, ends});
        break;
      }
      case SyncKind::kPost:
        for (const std::uint32_t origin : members) {
          if (!recorded(origin)) continue;
          const std::uint64_t number = w.peer(origin).exposure + 1;
          channels_.publish(channel(ChannelKind::kPostComplete, p.rank, origin), enter, number);
          if (error_bound(p.rank, origin) > 0) {
            channels_.publish(channel(ChannelKind::kPostStart, p.rank, origin), enter, number);
          }
        }
        break;
      case SyncKind::kStart:
        for (const std::uint32_t target : members) {
          const double bound = recorded(target) ? error_bound(target, p.rank) : 0;
          if (bound <= 0) continue;
          p.needs.push_back({channel(ChannelKind::kPostStart, target, p.rank),
                             w.peer(target).access + 1, true, true, bound});
        }
        break;
      case SyncKind::kComplete:
        for (const std::uint32_t target : members.empty() ? w.access_members : members) {
          if (!recorded(target)) continue;
          const std::uint64_t number = w.peer(target).access;
          channels_.publish(channel(ChannelKind::kCompleteWait, p.rank, target), enter, number);
          p.needs.push_back(
              {channel(ChannelKind::kPostComplete, target, p.rank), number, true, true});
        }
        break;
      case SyncKind::kWait:
        for (const std::uint32_t origin : members.empty() ? w.exposure_members : members) {
          if (!recorded(origin)) continue;
          p.needs.push_back(
              {channel(ChannelKind::kCompleteWait, origin, p.rank), w.peer(origin).exposure});
        }
        break;
      default:
        break;
    }
  }
  // How far the clocks of two processes may be apart; 0 on one node, and where nobody knows.
  double error_bound(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t node_a = defs_.locations[a].node, node_b = defs_.locations[b].node;
    if (node_a == kAbsent || node_b == kAbsent || node_a == node_b) return 0;
    const auto& error_a = defs_.nodes[node_a].clock_error;
    const auto& error_b = defs_.nodes[node_b].clock_error;
    return error_a && error_b ? error_a->value + error_b->value : 0;
  }

  Instances instances_;
};

}  // namespace kojak::merge
