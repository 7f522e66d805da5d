// The part of a causal pass that knows calls of several processes: collectives, fences, and general
// active target. Internal to causal_pass.cc.
//
// Who enters with data is a cause, who leaves with data an effect: a call without bytes need not
// wait. Who waits for whom tells call_causes.h. A fence counts where it ends an epoch and is not
// said to do so for nobody (MPI_MODE_NOPRECEDE). Not thread-safe. Nothing fails. Source: MPI 3.1,
// sections 5.1, 5.2.2, 7.6 and 11.5.
#pragma once

#include "merge/causal_instances.h"

namespace kojak::merge {

class CausalCalls : protected CausalInstances {
 protected:
  using CausalInstances::CausalInstances;

  void collective(CausalProcess& p) {
    const CausalThread& t = p.current();
    const Stream& s = t.stream;
    MpiCollExit r;
    if (decode(s.raw_record(), s.dialect, r) != nullptr) return;
    const std::uint32_t comm = paired_comm(s, r.cid);
    if (comm == kAbsent) return;
    const std::uint64_t number = p.collectives[comm] + 1;
    const MergedRegion* region = open_region(t);
    if (region != nullptr && !defs_.comms[comm].ranks.empty()) {
      Arrival arrival{t.stack.back().enter, p.time, p.linear};
      CallRule rule = CallRule::kAll;
      if (takes_part(p, r, *region, comm, arrival, rule)) {
        arrive(p, {kCollectiveCall, comm, number}, arrival, rule);
      }
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
  // A request of a non-blocking one is complete. No record tells of which call, or communicator.
  void nonblocking_collective(const CausalProcess& p) {
    constexpr std::uint8_t kCollectiveRequest = 1;
    const Stream& s = p.threads[p.thread].stream;
    MpiRequestComplete r;
    if (decode(s.raw_record(), s.dialect, r) == nullptr && raw(r.kind) == kCollectiveRequest) {
      ++counts_.unchecked;
    }
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

 private:
  const MergedRegion* open_region(const CausalThread& t) const {
    if (t.stack.empty() || t.stack.back().region == kAbsent) return nullptr;
    return &defs_.regions[t.stack.back().region];
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

  // What the process gives and takes in its call, and whom it waits for. False where it waits for
  // nobody and nobody for it, as far as the trace can tell.
  bool takes_part(const CausalProcess& p, const MpiCollExit& r, const MergedRegion& region,
                  std::uint32_t comm, Arrival& arrival, CallRule& rule) {
    const bool across = defs_.comms[comm].intercommunicator();
    if (across && places_.of(comm).place_of(p.rank) == kAbsent) return false;
    const bool root = raw(r.rlid) == p.rank;
    rule = across ? CallRule::kAcross : CallRule::kAll;
    arrival.cause = raw(r.sent) != 0;
    arrival.effect = raw(r.recvd) != 0;
    switch (region.role) {
      case MpiRole::kBarrier:
        arrival.cause = arrival.effect = true;
        return true;
      case MpiRole::kAllToAll:
        if (!region.counts_by_pair) return true;
        rule = across ? CallRule::kAcrossSupply : CallRule::kSupply;
        take_bytes(p, r, arrival);
        arrival.effect = arrival.got > (across ? 0 : arrival.sent);
        return true;
      case MpiRole::kPrefix:
        rule = CallRule::kLower;
        return !across;  // MPI has none between groups
      case MpiRole::kOneToAll:
        arrival.cause = root;
        arrival.effect = arrival.effect && !root;
        return true;
      case MpiRole::kAllToOne:
        arrival.cause = arrival.cause && !root;
        arrival.effect = root;
        return true;
      case MpiRole::kNeighbor:
        return has_neighbours(p, r, region, comm, arrival, rule);
      default:
        return false;
    }
  }
  // Neighbours are known in Cartesian topologies only. At a border of one, sums hold what
  // MPI_PROC_NULL is said to send, too.
  bool has_neighbours(const CausalProcess& p, const MpiCollExit& r, const MergedRegion& region,
                      std::uint32_t comm, Arrival& arrival, CallRule& rule) {
    const CommPlaces& places = places_.of(comm);
    const std::uint32_t place = places.place_of(p.rank);
    if (!places.grid || place == kAbsent) {
      if (arrival.effect) ++counts_.unchecked;
      return false;
    }
    rule = CallRule::kNear;
    if (!region.counts_by_pair) return true;
    rule = CallRule::kNearSupply;
    take_bytes(p, r, arrival);
    if (arrival.effect && !neighbours_of(*places.grid, place).whole) {
      arrival.effect = false;
      ++counts_.unchecked;
    }
    return true;
  }
  static void take_bytes(const CausalProcess& p, const MpiCollExit& r, Arrival& arrival) {
    const Stream& s = p.threads[p.thread].stream;
    arrival.sent = bytes_of(s, raw(r.sent), raw(kAttrBytesSent));
    arrival.got = bytes_of(s, raw(r.recvd), raw(kAttrBytesReceived));
  }

  // Posts and completes that happened while recording was off will not be seen.
  void skip_epochs(const CausalProcess& p, const Sync& sync) {
    const std::uint32_t peer = sync.target;
    if (!absolute_ || peer == kAbsent || !recorded(peer)) return;
    const std::uint64_t completes = sync.first - ((sync.open & kOpenAccess) != 0 ? 1 : 0);
    channels_.skip_causes({ChannelKind::kCompleteWait, sync.window, p.rank, peer, 0}, completes);
    for (const ChannelKind kind : {ChannelKind::kPostComplete, ChannelKind::kPostStart}) {
      channels_.skip_causes({kind, sync.window, p.rank, peer, 0}, sync.second);
    }
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
};

}  // namespace kojak::merge
