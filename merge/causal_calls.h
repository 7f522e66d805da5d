// The part of a causal pass that knows calls of several processes: collectives, fences, and general
// active target. Internal to causal_pass.cc.
//
// Who enters with data is a cause, who leaves with data an effect: a call without bytes need not
// wait, and of MPI_Alltoallv and -w nobody knows who waits for whom. A fence counts where it ends
// an epoch and is not said to do so for nobody (MPI_MODE_NOPRECEDE). Not thread-safe. Nothing
// fails. Source: MPI 3.1, sections 5.1 and 11.5.
#pragma once

#include "merge/causal_messages.h"

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
      const bool root = raw(r.rlid) == p.rank, some = raw(r.sent) != 0 || raw(r.recvd) != 0;
      bool waits = true;
      switch (region->role) {
        case MpiRole::kBarrier:
          arrival.cause = arrival.effect = true;
          break;
        case MpiRole::kAllToAll:
          waits = !region->name.ends_with("lltoallv") && !region->name.ends_with("lltoallw");
          arrival.cause = arrival.effect = some;
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
      if (waits) arrive(p, {kCollectiveCall, comm, number}, arrival);
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

  void arrive(CausalProcess& p, const InstanceKey& key, const Arrival& arrival) {
    const auto [at, fresh] = instances_.try_emplace(key);
    Instance& instance = at->second;
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

  // All have come: nobody leaves before the last of the others has entered.
  void resolve(Instances::iterator at) {
    const Instance instance = std::move(at->second);
    instances_.erase(at);
    const Cause* last = nullptr;
    const Cause* other = nullptr;  // the last but one
    for (const Arrival& arrival : instance.arrivals) {
      if (!arrival.cause) continue;
      const Cause* cause = &arrival.enter;
      if (last == nullptr || later(*cause, *last)) std::swap(cause, last);
      if (cause != nullptr && (other == nullptr || later(*cause, *other))) other = cause;
    }
    double first_exit = std::numeric_limits<double>::infinity();
    for (const Arrival& arrival : instance.arrivals) {
      if (!arrival.effect) continue;
      CausalProcess& p = processes_[arrival.enter.process];
      const Cause* cause = last != nullptr && last->process == arrival.enter.process ? other : last;
      double exit = arrival.exit;
      if (cause != nullptr) {
        count(cause->linear, arrival.linear);
        if (behind(*cause, p, exit)) exit = after(cause->time);
        p.earliest = exit;
      }
      first_exit = std::min(first_exit, exit);
      p.in_instance = false;
      enqueue(p);
    }
    if (!correcting_) return;
    for (const Arrival& arrival : instance.arrivals) {
      if (arrival.cause) {
        timelines_[arrival.enter.process]->limit(arrival.enter.item, first_exit);
      }
    }
  }
  static bool later(const Cause& a, const Cause& b) {
    return a.time > b.time || (a.time == b.time && a.process > b.process);
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
