// The longer handlers of a forward pass. Included by replay_handlers.h. Long because each kind of
// record that takes more than some lines has its handler here.
#pragma once

#include "earl/detail/replay_handlers.h"
#include "epilog/format/epoch_moves.h"

namespace kojak::earl::detail {

template <class S>
void ReplayHandlers<S>::handle(const OmpTeam& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  sink_.on_omp_team(static_cast<const OpenCall&>(frame(i, pos)), raw(r.team), raw(r.index),
                    raw(r.size));
}

template <class S>
[[gnu::noinline]] void ReplayHandlers<S>::tell_task(std::uint32_t i, std::uint64_t pos) {
  const ThreadId creator = std::exchange(creator_, absent<ThreadId>());
  if (i != kAbsent) sink_.on_omp_task(static_cast<const OpenCall&>(frame(i, pos)), creator);
}

template <class S>
template <class R>
void ReplayHandlers<S>::omp_lock(const R& r, std::uint64_t pos, bool acquired) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  sink_.on_omp_lock(static_cast<const OpenCall&>(frame(i, pos)), r.lkid, r.time, acquired);
}

template <class S>
template <class R>
void ReplayHandlers<S>::symmetric_lock(const R& r, std::uint64_t pos, bool acquired) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  const bool told = trace_.native() && !is_absent(r.glid);
  const ProcessId by = told ? core_.process_of(r.glid) : absent<ProcessId>();
  const bool outside = core_.stack.empty(i);
  const ShmemFunction* const function =
      outside ? nullptr : trace_.definitions().shmem(core_.stack.top(i).region);
  if (function == nullptr || !handles_lock(function->role)) {
    Call moment;
    if (!outside) static_cast<OpenCall&>(moment) = core_.stack.top(i);
    moment.loc = r.lid;
    moment.index = i;
    moment.process = process(i);
    moment.enter = moment.exit = r.time;
    moment.enter_pos = moment.exit_pos = pos;
    return sink_.on_symmetric_lock(SymmetricLock{&moment, r.lkid, acquired, by});
  }
  act(i, pos, Action::Kind::kSymmetricLock, {}, by, acquired).lock = r.lkid;
}

template <class S>
void ReplayHandlers<S>::handle(MpiPolled r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  keep_within_bounds(r.begin);
  Frame& f = frame(i, pos);
  PolledSeries& series = core_.places[i].series;
  series.begin(r);
  f.joined = true;
  f.polled = series.waits();
  f.polled_from = r.begin;
  if (series.whole()) tell_series(i, pos);
}

template <class S>
void ReplayHandlers<S>::handle(MpiPoll r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  PolledSeries& series = core_.places[i].series;
  if (series.whole()) return;  // of a damaged trace: it belongs to none
  keep_within_bounds(r.first_enter);
  keep_within_bounds(r.last_enter);
  r.tlid = peer_process(r.tlid);
  series.members.push_back(r);
  if (series.whole()) tell_series(i, pos);
}

// All of the series is known that the innermost call is, or ends.
template <class S>
void ReplayHandlers<S>::tell_series(std::uint32_t i, std::uint64_t pos) {
  Frame& f = frame(i, pos);
  const PolledSeries& series = core_.places[i].series;
  f.polled_from = series.first_at(f.region, f.csite);
  const CallPathId around = core_.stack.depth(i) > 1 ? (&f)[-1].cnode : absent<CallPathId>();
  // The instance itself is one visit: that of the call that found something, or of the first poll.
  std::uint64_t counted = series.alone() ? 1 : 0;
  for (const MpiPoll& m : series.members) {
    OpenCall at = f;
    const RegionInfo* const region = is_absent(m.rid) ? nullptr : core_.region(m.rid);
    if (region != nullptr && region->known) {
      at.cnode = core_.tree.enter(around, m.rid, m.csid, pos);
      at.region = m.rid;
      at.csite = m.csid;
      at.function = region->function;
    }
    const std::uint64_t polls = raw(m.count) - std::min(raw(m.count), counted);
    counted -= std::min(raw(m.count), counted);
    if (polls != 0) sink_.on_polls(static_cast<const OpenCall&>(at), polls);
    const bool swaps = raw(m.kind) == raw(PollKind::kSwap);
    if (swaps || raw(m.kind) == raw(PollKind::kRead)) {
      const std::uint64_t bytes = raw(m.count) * raw(m.bytes);
      sink_.on_polls_moved(static_cast<const OpenCall&>(at), MovedBytes{bytes, swaps ? bytes : 0});
    }
    if (raw(m.kind) != raw(PollKind::kRequest) || is_absent(m.reqid)) continue;
    if (is_absent(m.wid)) sink_.on_request_tested(static_cast<const OpenCall&>(at), m.reqid);
    if (&m == &series.members.front() && series.alone()) {
      f.completed |= is_absent(m.wid) ? core_.numbered.kind_of(f.process, m.reqid) : kCompletedRma;
    }
  }
  sink_.on_polled(static_cast<const OpenCall&>(f), series);
}

template <class S>
void ReplayHandlers<S>::handle(const MpiSend& r, const Attributes& a, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  Frame& f = frame(i, pos);
  const ProcessId destination = core_.process_of(r.dlid);
  if (is_absent(destination)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  const SendEvent event{
      &f, pos, r.time, destination, r.cid, r.tag, Attributes::bytes(r.sent, a.sent), a.request};
  sink_.on_send(event);
  if (trace_.main_index(destination) == kAbsent) [[unlikely]] {  // its trace is missing
    return trace_.findings().add(Finding::kUnreceivedSend, pos, r.lid);
  }
  core_.messages.send(event, blocking_send(f.role()), f.message_call);
  if (core_.messages.probes_served()) [[unlikely]] {
    core_.messages.take_probes([&](const Call& c, const OpenCall& s) { sink_.on_probe(c, s); });
  }
}

template <class S>
void ReplayHandlers<S>::handle(const MpiRecv& r, const Attributes& a, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  Frame& f = frame(i, pos);
  f.completed |= kCompletedMessage;
  found_request(i, f, a.request);
  const ProcessId source = core_.process_of(r.slid);
  if (is_absent(source)) {
    core_.messages.forget(process(i), a.request);
    return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  }
  const bool has_bytes = trace_.native();
  const RecvEvent event{&f,
                        pos,
                        r.time,
                        source,
                        r.cid,
                        r.tag,
                        has_bytes ? Attributes::bytes(r.recvd, a.recvd) : Bytes64{},
                        has_bytes,
                        a.request,
                        a.from_any || core_.messages.from_any(process(i), a.request)};
  sink_.on_receive(event);
  if (trace_.main_index(source) == kAbsent) [[unlikely]] {  // its trace is missing
    core_.messages.forget(process(i), a.request);
    return trace_.findings().add(Finding::kUnmatchedReceive, pos, r.lid);
  }
  core_.messages.receive(event, posting_receive(f.role()), f.message_call);
}

template <class S>
template <class R>
void ReplayHandlers<S>::coll_exit(const R& r, const Attributes& a, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  Frame* const f = leave(i, r.time, pos, r.metv);
  if (f == nullptr) return;
  PeerId root = r.rlid;
  if (!is_absent(root)) root = static_cast<PeerId>(raw(core_.process_of(root)));
  const Bytes64 sent = Attributes::bytes(r.sent, a.sent);
  const Bytes64 recvd = Attributes::bytes(r.recvd, a.recvd);
  const CollectiveExit exit{f, r.cid, root, sent, recvd, a.collective_flags, a.allocation};
  sink_.on_collective_exit(exit);
  const CollectiveInstance* instance = core_.collectives.leave(exit);
  left(*f);
  if (instance != nullptr) sink_.on_collective(*instance);
}

template <class S>
void ReplayHandlers<S>::handle(const MpiCollBegin& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  PeerId root = r.rlid;
  if (!is_absent(root)) root = static_cast<PeerId>(raw(core_.process_of(root)));
  const CollectiveInstance* const begun = core_.numbered.begin(frame(i, pos), pos, r, root);
  if (begun == nullptr) return;
  sink_.on_collective_begun(*begun);
  core_.numbered.drain([&](const CollectiveWait& w) { tell_wait(w); });
}

template <class S>
void ReplayHandlers<S>::begun_before(const RequestState& r, std::uint32_t i, std::uint64_t pos) {
  PeerId root = r.plid;
  if (!is_absent(root)) root = static_cast<PeerId>(raw(core_.process_of(root)));
  const CollectiveInstance* const begun = core_.numbered.resume(frame(i, pos), pos, r, root);
  if (begun != nullptr) sink_.on_collective_begun(*begun);
}

template <class S>
void ReplayHandlers<S>::handle(const MpiPartBegin& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  const ProcessId peer = core_.process_of(r.plid);
  if (is_absent(peer)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  const GroupInfo* const group = core_.groups.find(r.cid);
  if (group == nullptr) return trace_.findings().add(Finding::kUnknownComm, pos, r.lid);
  if (!group->def->identity_known) {
    return trace_.findings().add(Finding::kUnknownIdentity, pos, r.lid);
  }
  core_.partitioned.begin(frame(i, pos), r, peer);
}

template <class S>
void ReplayHandlers<S>::window_collective(Frame& f, WindowId window) {
  const Call& call = f;
  const EpochMove move = collective_exit_move(call.role());
  if (move == EpochMove::kNone) {
    return trace_.findings().add(Finding::kUnopenedEpoch, call.exit_pos, call.loc);
  }
  std::uint64_t ordinal = 0;
  const WindowInstance* instance = core_.windows.leave(call, window, ordinal);
  if (move == EpochMove::kFence) {
    const GroupInfo* group = core_.groups.find(window);
    if (group != nullptr) {
      sink_.on_fence_epoch(core_.fences.fence(call, window, ordinal, group->ranks.size()));
    }
  } else if (move == EpochMove::kFree) {
    core_.gats.free(call.process, window, call.exit_pos);
    core_.fences.free(call.process, window);
    core_.passive.free(call.process, window, call.exit_pos);
  }
  left(f);
  if (instance == nullptr) return;
  if (move == EpochMove::kFree) core_.gats.free_all(window);
  sink_.on_window_collective(*instance);
}

template <class S>
KOJAK_INLINED inline void ReplayHandlers<S>::transfer_now(std::uint32_t i, std::uint64_t pos,
                                                          Seconds time, Seconds requested,
                                                          PeerId peer, WindowId window, RmaId rmaid,
                                                          Bytes64 bytes, bool get) {
  LocationState& place = core_.places[i];
  Frame& f = frame(i, pos);
  const ProcessId origin = core_.stack.head(i).process;
  const ProcessId target = core_.process_of(peer);
  if (is_absent(target)) [[unlikely]]
    return trace_.findings().add(Finding::kUnknownPeer, pos, core_.stack.head(i).id);
  if (is_absent(f.rmaid)) f.rmaid = rmaid;
  TransferSlot slot;
  const SymmetricPlace* symmetric = nullptr;
  if (is_absent(window)) {  // SHMEM: no epochs
    symmetric = place_of(i, f, rmaid);
    if (!get && symmetric != nullptr && symmetric->known() && core_.symmetric.followed(target)) {
      core_.symmetric.issue(target, {symmetric->offset, raw(bytes), pos, f});
    }
  } else if (window != core_.known_window && trace_.definitions().windows.find(window) == nullptr)
      [[unlikely]] {
    trace_.findings().add(Finding::kUnknownWindow, pos, core_.stack.head(i).id);
  } else {
    core_.known_window = window;
    const bool locks = core_.passive.any_open(origin);
    std::uint32_t lock = kNone;
    const auto held = [&](ProcessId of) {
      return locks && (lock = core_.passive.open_lock(origin, window, of)) != kNone;
    };
    const auto accessed = [&] {
      if (!core_.gats.any_open(origin)) return false;
      slot = core_.gats.issue(origin, window, target, rmaid, get);
      return slot.kind != EpochKind::kNone;
    };
    const EpochKind kind = claiming_epoch([&] { return held(target); },
                                          [&] { return held(absent<ProcessId>()); }, accessed);
    if (kind == EpochKind::kFence) {
      slot = core_.fences.issue(origin, window, target);
    } else if (kind != EpochKind::kAccess) {
      slot = core_.passive.issue(lock, target, rmaid, get, f.role() == MpiRole::kRequestTransfer);
    }
    if (f.transfer.kind == EpochKind::kNone) [[likely]] {
      f.transfer = slot;
    } else {
      ++f.actions;
      place.actions.emplace_back().slot = slot;
    }
  }
  sink_.on_transfer(Transfer{&f, pos, time, origin, target, window, rmaid, bytes, get, slot.kind,
                             symmetric, requested});
}

template <class S>
void ReplayHandlers<S>::perform(Frame& f) {
  const Call& call = f;
  LocationState& place = core_.places[f.index];
  const std::size_t begin = place.actions.size() - f.actions;
  GivenParts parts;
  core_.variables.clear();
  for (std::size_t n = begin; n < place.actions.size(); ++n) {
    const Action& a = place.actions[n];
    const PassiveEpoch* ended = nullptr;
    switch (a.kind) {
      case Action::Kind::kTransfer:
        leave_transfer(call, a.slot);
        break;
      case Action::Kind::kLock:
        core_.passive.lock(call, a.window, a.target, a.flag);
        break;
      case Action::Kind::kUnlock:
        ended = core_.passive.unlock(call, a.window, a.target);
        break;
      case Action::Kind::kLockAll:
        core_.passive.lock_all(call, a.window);
        break;
      case Action::Kind::kUnlockAll:
        ended = core_.passive.unlock_all(call, a.window);
        break;
      case Action::Kind::kFlush:
        core_.passive.flush(call, a.window, a.target, a.flag);
        break;
      case Action::Kind::kRequestComplete:
        core_.passive.complete_request(call, a.window, a.rmaid);
        break;
      case Action::Kind::kGroupCall:
        if (const CollectiveInstance* instance =
                core_.numbered.leave_group_call(call, {a.com, a.key, a.ordinal})) {
          sink_.on_collective(*instance);
        }
        continue;
      case Action::Kind::kProbe:
        if (const OpenCall* send = core_.messages.probe(call, a.com, a.tag, a.target, a.flag)) {
          sink_.on_probe(call, *send);
        }
        continue;
      case Action::Kind::kPartEnd:
        parts.add(call.role(), core_.partitioned.end(call.process, a.request));
        continue;
      case Action::Kind::kQuiet:
        sink_.on_quiet(call, a.quiet);
        continue;
      case Action::Kind::kSymmetricLock:
        sink_.on_symmetric_lock(SymmetricLock{&call, a.lock, a.flag, a.target});
        continue;
      case Action::Kind::kSymmetricWait:
        core_.variables.push_back(a.variable);
        core_.variables.back().write =
            core_.symmetric.last(call.process, a.variable.offset, a.variable.bytes);
        continue;
    }
    if (a.kind != Action::Kind::kTransfer) tell_step(call, a);
    if (ended != nullptr) sink_.on_passive_epoch(*ended);
  }
  place.actions.resize(begin);
  if (!core_.variables.empty()) sink_.on_symmetric_wait(SymmetricWait{&call, core_.variables});
  // Where a call completed other messages, too, those are told instead.
  if (parts.any && f.message_call == 0) sink_.on_partitioned(call, parts.deciding);
}

template <class S>
void ReplayHandlers<S>::handle(const MpiWinExit& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  Frame* const f = leave(i, r.time, pos, r.metv);
  if (f == nullptr) return;
  const Call& call = *f;
  if (trace_.definitions().windows.find(r.wid) == nullptr) [[unlikely]] {
    trace_.findings().add(Finding::kUnknownWindow, pos, r.lid);
  } else {
    switch (epoch_move(r, call.role())) {
      case EpochMove::kStart:
        core_.gats.start(call, r.wid, r.cid);
        break;
      case EpochMove::kPost:
        core_.gats.post(call, r.wid, r.cid);
        break;
      case EpochMove::kComplete:
        sink_.on_access_epoch(core_.gats.complete(call, r.wid, r.cid));
        break;
      case EpochMove::kWait:
        core_.gats.wait(call, r.wid, r.cid);
        break;
      default:  // a test that gave false, or a region that neither begins nor ends an epoch
        if (group_exit_move(call.role(), true) == EpochMove::kNone) {
          trace_.findings().add(Finding::kUnopenedEpoch, pos, r.lid);
        }
    }
  }
  left(*f);
}

template <class S>
void ReplayHandlers<S>::handle(const MpiRecvRequest& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent || !trace_.native()) return;
  ProcessId source = absent<ProcessId>();
  if (!is_absent(r.slid)) {
    source = core_.process_of(r.slid);
    if (is_absent(source)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  }
  Frame& f = frame(i, pos);
  core_.messages.post(f, pos, r.reqid, source, r.cid, r.tag);
  if (f.role() == MpiRole::kImprobe && !is_absent(source))
    sink_.on_found(static_cast<const OpenCall&>(f), FoundMessage{source, r.time});
  const bool found = f.role() == MpiRole::kMprobe || (f.role() == MpiRole::kImprobe && f.polled);
  if (found && !is_absent(source) && !is_absent(r.tag)) {
    found_probed(i, f, r.slid, r.cid, r.tag);
    found_message(i, pos, source, r.cid, r.tag, true);
  }
}

template <class S>
void ReplayHandlers<S>::passive_event(LocationId lid, Seconds time, std::uint64_t pos,
                                      Action::Kind kind, WindowId window, PeerId peer, bool flag) {
  const std::uint32_t i = locate(lid, time, pos);
  if (i == kAbsent) return;
  ProcessId target = absent<ProcessId>();
  if (!is_absent(peer)) {
    target = core_.process_of(peer);
    if (is_absent(target)) return trace_.findings().add(Finding::kUnknownPeer, pos, lid);
  }
  act(i, pos, kind, window, target, flag);
}

template <class S>
template <class R>
void ReplayHandlers<S>::get_start(const R& r, WindowId window, Bytes64 bytes, std::uint64_t pos) {
  const std::uint32_t t = locate(r.lid, r.time, pos);
  if (t == kAbsent) return;
  const ProcessId origin = core_.process_of(r.dlid);
  if (is_absent(origin)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  auto& issued = core_.get_origin[raw(origin)];
  const bool known = issued.rmaid == r.rmaid && issued.place != kAbsent;
  const std::uint32_t i = known ? issued.place : trace_.main_index(origin);
  issued.place = kAbsent;
  if (i == kAbsent) return;  // the origin's trace is missing
  transfer(i, pos, r.time, known ? issued.time : r.time, static_cast<PeerId>(raw(r.lid)), window,
           r.rmaid, bytes, true);
}

template <class S>
void ReplayHandlers<S>::mark(ProcessId origin, ProcessId target, WindowId window, RmaId rmaid,
                             bool get) {
  if (is_absent(origin) || is_absent(target)) return;
  const AccessEpoch* epoch = core_.gats.mark(origin, window, target, rmaid, get);
  if (epoch == nullptr && !core_.passive.mark(origin, window, target)) {
    core_.fences.mark(origin, window, target);
  }
  sink_.on_marked_transfer(origin, rmaid, target, epoch);
}

template <class S>
template <class R>
void ReplayHandlers<S>::leave_only(const R& r, std::uint64_t pos, RegionId region) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  if (core_.stack.empty(i) || core_.stack.top(i).region != region) {
    return trace_.findings().add(Finding::kUnbalancedExit, pos, r.lid);
  }
  if (Frame* f = leave(i, r.time, pos, r.metv)) left(*f);
}

template <class S>
void ReplayHandlers<S>::handle(const EpochState& r, const Attributes&, std::uint64_t pos) {
  const std::uint32_t i = locate(r.lid, r.time, pos);
  if (i == kAbsent) return;
  const ProcessId peer = core_.process_of(r.plid);
  if (is_absent(peer)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
  const bool locked = (raw(r.open) & kOpenLock) != 0;
  core_.gats.resume(process(i), r.wid, peer, raw(r.access), raw(r.exposure),
                    locked ? 0 : raw(r.ops), raw(r.open), pos);
  core_.passive.resume(process(i), r.wid, peer, raw(r.open), locked ? raw(r.ops) : 0);
  if (core_.gats.due(r.time)) drain_epochs(r.time);
}

template <class S>
void ReplayHandlers<S>::finish() {
  const std::uint64_t pos = trace_.events_read();
  for (std::uint32_t i = 0; i < core_.places.size(); ++i) {
    while (!core_.stack.empty(i)) {
      trace_.findings().add(Finding::kOpenAtEnd, pos, core_.stack.head(i).id);
      core_.stack.top(i).incomplete = true;
      left(*leave(i, core_.stack.head(i).last, pos, {}));
    }
  }
  core_.messages.finish(
      [&](const Message& m) { sink_.on_unreceived(m); },
      [&](ProcessId process, ProcessId source, CommId com, Tag tag, RequestId request) {
        sink_.on_unmet_receive(process, source, com, tag, request);
      });
  core_.messages.drain([&](const MessageCall& m) { sink_.on_message_call(m); });
  core_.collectives.finish(pos, [&](const CollectiveInstance& c) { sink_.on_collective(c); });
  core_.numbered.finish(pos, [&](const CollectiveInstance& c) {
    c.begun ? sink_.on_collective_unbegun(c) : sink_.on_collective(c);
  });
  core_.numbered.drain([&](const CollectiveWait& w) { tell_wait(w); });
  core_.windows.finish(pos, [&](const WindowInstance& w) { sink_.on_window_collective(w); });
  core_.gats.finish();
  drain_epochs(core_.now);
  core_.passive.finish([&](const PassiveEpoch& e) { sink_.on_passive_epoch(e); });
  sink_.on_end();
}

}  // namespace kojak::earl::detail
