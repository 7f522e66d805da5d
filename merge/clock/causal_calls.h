// The part of a causal pass that knows calls of several processes: collectives, those that are
// begun and completed by calls of their own, fences, and general active target. Internal to
// causal_pass.cc.
//
// Who gives and takes something in a collective call, and whom it waits for, tells call_parts.h. A
// fence counts where it ends an epoch and is not said to do so for nobody (MPI_MODE_NOPRECEDE).
// Source: MPI 3.1, sections 5.1, 5.12, 7.6 and 11.5.
#pragma once

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "merge/clock/begun_calls.h"
#include "merge/clock/causal_instances.h"
#include "merge/clock/causal_messages.h"
#include "merge/complete/transfer_ends.h"

namespace kojak::merge {

class CausalCalls {
 public:
  CausalCalls(CausalState& state, const CausalMessages& messages, CausalInstances& instances)
      : state_(state),
        messages_(messages),
        instances_(instances),
        begun_(state.defs, instances.parts(), static_cast<std::uint32_t>(state.timelines.size()),
               state.correcting) {}

  void collective(CausalProcess& p) {
    const CausalThread& t = p.current();
    const Stream& s = t.stream;
    MpiCollExit r;
    if (decode(s.raw_record(), s.dialect, r) != nullptr) return;
    const std::uint32_t comm = messages_.paired_comm(s, r.cid);
    if (comm == kAbsent) return;
    const std::uint64_t number = p.collectives[comm] + 1;
    const RegionDef* region = open_region(t);
    if (region != nullptr && !state_.defs.comms[comm].ranks.empty()) {
      const CallFacts facts{p.rank,
                            comm,
                            region->role(),
                            region->function != nullptr && counts_by_pair(*region->function),
                            raw(r.rlid),
                            bytes_of(s, raw(r.sent), kAttrBytesSent),
                            bytes_of(s, raw(r.recvd), kAttrBytesReceived)};
      if (const std::optional<CallPart> part = instances_.parts().part(facts)) {
        if (part->unknown) ++state_.counts.unchecked;
        const Arrival arrival{t.stack.back().enter, p.time,     p.linear, part->cause,
                              part->effect,         facts.sent, facts.got};
        instances_.arrive(p, {kCollectiveCall, comm, number}, arrival, part->rule);
      }
    }
    p.collectives[comm] = number;
  }
  void collective_state(CausalProcess& p) {
    const Stream& s = p.current().stream;
    CollState state;
    if (decode(s.raw_record(), s.dialect, state) != nullptr) return;
    const std::uint32_t comm = messages_.paired_comm(s, state.cid);
    if (comm == kAbsent) return;
    std::uint64_t& calls = p.collectives[comm];
    instances_.skip_calls(kCollectiveCall, comm, calls, raw(state.count));
    calls = std::max(calls, std::uint64_t{raw(state.count)});
  }
  // One is begun, or a persistent one is started.
  void begin_collective(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MpiCollBegin r;
    if (decode(s.raw_record(), s.dialect, r) != nullptr) return;
    const std::uint32_t comm = messages_.paired_comm(s, r.cid);
    const MpiFunction* const function = blocking_form(raw(r.op));
    if (comm == kAbsent || function == nullptr) return;
    const CallFacts facts{p.rank,      comm,        function->role, counts_by_pair(*function),
                          raw(r.rlid), raw(r.sent), raw(r.recvd)};
    const std::optional<CallPart> part = instances_.parts().part(facts);
    const Cause here =
        part && part->cause ? state_.cause_here(p) : Cause{p.rank, 0, p.linear, p.time};
    begun_.begin({comm, raw(r.key), raw(r.ordinal)}, raw(r.reqid), facts, part, here);
  }
  // The request of a collective operation is complete.
  void complete_collective(CausalProcess& p) const {
    const Stream& s = p.threads[p.thread].stream;
    MpiRequestComplete r;
    if (decode(s.raw_record(), s.dialect, r) == nullptr && r.kind == kDoneCollective) {
      p.completes = raw(r.reqid);
    }
  }
  // When it can have been complete, from when it seems to have been; counts what it needed.
  double completion(const CausalProcess& p, double time) {
    const BegunCalls::Effect effect = begun_.effect(p.rank, *p.completes);
    if (effect.unchecked) ++state_.counts.unchecked;
    if (effect.recorded != nullptr) state_.count(effect.recorded->linear, p.linear);
    const bool late = effect.needed != nullptr && state_.behind(*effect.needed, p, time);
    return late ? after(effect.needed->time) : time;
  }
  void limit_begun() {
    for (const auto& [cause, time] : begun_.limits()) {
      state_.timelines[cause.process]->limit(cause.item, time);
    }
    begun_.limits().clear();
  }

  // Records that move a window's state.
  void synchronise(CausalProcess& p) {
    CausalThread& t = p.current();
    const Stream& s = t.stream;
    const RegionDef* region = open_region(t);
    Sync sync;
    if (!decode_sync(s.raw_record(), s.dialect,
                     region != nullptr ? region->role() : MpiRole::kOther, t.assertion, sync)) {
      return;
    }
    std::span<const std::uint32_t> members;
    if (!resolve_sync(sync, MergedNames(*s.translation, state_.defs),
                      static_cast<std::uint32_t>(state_.processes.size()), members)) {
      return;
    }
    const std::uint32_t window = sync.window;
    WindowEpochs& w = p.epochs.window(window, false);
    const std::uint64_t fences = w.standing.fences;
    if (state_.defs.windows[window].paired()) depend(p, sync, w, members);
    apply_sync(w, sync, members, false);
    if (sync.kind == EpochMove::kWindowState)
      instances_.skip_calls(kFenceCall, window, fences, w.standing.fences);
    if (sync.kind == EpochMove::kPeerState) skip_epochs(p, sync);
  }

  BegunCalls& begun() { return begun_; }

 private:
  const RegionDef* open_region(const CausalThread& t) const {
    if (t.stack.empty() || t.stack.back().region == kAbsent) return nullptr;
    return &state_.defs.regions[t.stack.back().region];
  }
  // A count that the record cannot hold stands in an attribute before it; without one nobody knows.
  static std::uint64_t bytes_of(const Stream& s, std::uint32_t field, Byte kind) {
    return field != kAbsent ? field : noted_bytes(s, kind);
  }

  // Posts and completes that happened while recording was off will not be seen.
  void skip_epochs(const CausalProcess& p, const Sync& sync) {
    const std::uint32_t peer = sync.target;
    if (!state_.absolute || peer == kAbsent || !state_.recorded(peer)) return;
    const std::uint64_t completes = sync.first - ((sync.open & kOpenAccess) != 0 ? 1 : 0);
    state_.channels.skip_causes({ChannelKind::kCompleteWait, sync.window, p.rank, peer, 0},
                                completes);
    for (const ChannelKind kind : {ChannelKind::kPostComplete, ChannelKind::kPostStart}) {
      state_.channels.skip_causes({kind, sync.window, p.rank, peer, 0}, sync.second);
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
      case EpochMove::kFence: {
        const bool ends = w.standing.fence_open && (t.assertion & kAssertNoPrecede) == 0;
        instances_.arrive(p, {kFenceCall, sync.window, w.standing.fences + 1},
                          {enter, p.time, p.linear, ends, ends});
        break;
      }
      case EpochMove::kPost:
        for (const std::uint32_t origin : members) {
          if (!state_.recorded(origin)) continue;
          const std::uint64_t number = w.peer(origin).standing.exposure + 1;
          state_.channels.publish(channel(ChannelKind::kPostComplete, p.rank, origin), enter,
                                  number);
          if (error_bound(p.rank, origin) > 0) {
            state_.channels.publish(channel(ChannelKind::kPostStart, p.rank, origin), enter,
                                    number);
          }
        }
        break;
      case EpochMove::kStart:
        for (const std::uint32_t target : members) {
          const double bound = state_.recorded(target) ? error_bound(target, p.rank) : 0;
          if (bound <= 0) continue;
          p.needs.push_back({channel(ChannelKind::kPostStart, target, p.rank),
                             w.peer(target).standing.access + 1, true, true, bound});
        }
        break;
      case EpochMove::kComplete:
        for (const std::uint32_t target : members.empty() ? w.access_members : members) {
          if (!state_.recorded(target)) continue;
          const std::uint64_t number = w.peer(target).standing.access;
          state_.channels.publish(channel(ChannelKind::kCompleteWait, p.rank, target), enter,
                                  number);
          p.needs.push_back(
              {channel(ChannelKind::kPostComplete, target, p.rank), number, true, true});
        }
        break;
      case EpochMove::kWait:
        for (const std::uint32_t origin : members.empty() ? w.exposure_members : members) {
          if (!state_.recorded(origin)) continue;
          p.needs.push_back({channel(ChannelKind::kCompleteWait, origin, p.rank),
                             w.peer(origin).standing.exposure});
        }
        break;
      default:
        break;
    }
  }
  // How far the clocks of two processes may be apart; 0 on one node, and where nobody knows.
  double error_bound(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t node_a = state_.defs.locations[a].node,
                        node_b = state_.defs.locations[b].node;
    if (node_a == kAbsent || node_b == kAbsent || node_a == node_b) return 0;
    const auto& error_a = state_.defs.nodes[node_a].clock_error;
    const auto& error_b = state_.defs.nodes[node_b].clock_error;
    return error_a && error_b ? error_a->value + error_b->value : 0;
  }

  CausalState& state_;
  const CausalMessages& messages_;
  CausalInstances& instances_;
  BegunCalls begun_;
};

}  // namespace kojak::merge
