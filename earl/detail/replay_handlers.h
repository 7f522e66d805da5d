// The handlers of a forward pass: what each event does to the aspects, and what the sink is told.
//
// Internal to earl/replay.h. Long because every type of record has its handler here.
#pragma once

#include "earl/detail/replay_core.h"
#include "earl/event_loop.h"
#include "earl/standing.h"
#include "epilog/format/field_values.h"

namespace kojak::earl {
struct Sink;
}

namespace kojak::earl::detail {

template <class S>
class ReplayHandlers {
  static constexpr bool kWantsTasks =
      !std::is_same_v<decltype(&S::on_omp_task), void (Sink::*)(const OpenCall&, ThreadId)>;

 public:
  ReplayHandlers(Trace& trace, S& sink) : trace_(trace), sink_(sink), core_(trace) {}

  const CallTree& call_tree() const { return core_.tree; }
  Seconds now() const { return core_.now; }

  // ---- for EventLoop: records that have a handler below
  template <class R>
  static constexpr bool wants() {
    return requires(ReplayHandlers h, const R& r, const Attributes& a) {
      h.handle(r, a, 0);
    };
  }

  // What an event will need, step by step: each step finds what the one before has fetched.
  bool looks_ahead() const { return core_.places.size() >= kMany; }
  template <int kStep>
  KOJAK_INLINED void fetch(std::uint8_t type, std::uint32_t location) const {
    if (location >= core_.places.size()) [[unlikely]]
      return;
    const auto record = static_cast<RecordType>(type);
    if (record == RecordType::kMpiPut1te || record == RecordType::kMpiGet1te) return;
    if constexpr (kStep == 0) core_.stack.fetch(location);
    if constexpr (kStep == 1) core_.stack.fetch_top(location, record == RecordType::kEnter);
    // (In most runs a location has the number of its process.)
    const auto process = static_cast<ProcessId>(location);
    if (record == RecordType::kMpiPut1ts || record == RecordType::kExit) {
      core_.fences.template fetch<kStep>(process);
    }
    if constexpr (requires { sink_.template fetch<kStep>(location, process); }) {
      sink_.template fetch<kStep>(location, process);
    }
  }

  // ---- regions
  KOJAK_INLINED void handle(const Enter& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) enter(i, r.time, pos, r.rid, absent<CallSiteId>(), r.metv);
    if (kWantsTasks && !is_absent(creator_)) [[unlikely]]
      tell_task(i, pos);
  }
  // Which thread has created the task that is entered next.
  void created_by(ThreadId thread) requires(kWantsTasks) { creator_ = thread; }
  KOJAK_INLINED void handle(const EnterCs& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) {
      creator_ = absent<ThreadId>();
      return;
    }
    const CallSiteDef* site = trace_.definitions().call_sites.find(r.csid);
    if (site == nullptr) [[unlikely]] {
      trace_.findings().add(Finding::kUnknownCallSite, pos, r.lid);
      enter(i, r.time, pos, trace_.unknown_region(), absent<CallSiteId>(), r.metv);
    } else {
      enter(i, r.time, pos, site->entered, r.csid, r.metv);
    }
    if (kWantsTasks && !is_absent(creator_)) [[unlikely]]
      tell_task(i, pos);
  }
  void handle(const LogOff& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) enter(i, r.time, pos, trace_.pausing_region(), absent<CallSiteId>(), r.metv);
  }
  void handle(const EnterTracing& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) enter(i, r.time, pos, trace_.tracing_region(), absent<CallSiteId>(), r.metv);
  }
  void handle(const LogOn& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = trace_.index(r.lid);
    if (i != kAbsent) core_.passive.record_again(process(i));
    leave_only(r, pos, trace_.pausing_region());
  }
  void handle(const ExitTracing& r, const Attributes&, std::uint64_t pos) {
    leave_only(r, pos, trace_.tracing_region());
  }
  KOJAK_INLINED void handle(const Exit& r, const Attributes&, std::uint64_t pos) {
    plain_exit(r, pos);
  }
  void handle(const OmpFork& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_omp_fork(static_cast<const OpenCall&>(frame(i, pos)), r.time);
  }
  void handle(const OmpJoin& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_omp_join(static_cast<const OpenCall&>(frame(i, pos)), r.time);
  }
  void handle(const OmpTeam& r, const Attributes&, std::uint64_t pos);
  void tell_task(std::uint32_t i, std::uint64_t pos);
  void handle(const OmpALock& r, const Attributes&, std::uint64_t pos) { omp_lock(r, pos, true); }
  void handle(const OmpRLock& r, const Attributes&, std::uint64_t pos) { omp_lock(r, pos, false); }
  template <class R>
  void omp_lock(const R& r, std::uint64_t pos, bool acquired);
  void handle(const OmpCollExit& r, const Attributes&, std::uint64_t pos) { plain_exit(r, pos); }

  // ---- collectives
  void handle(const MpiCollExit& r, const Attributes& a, std::uint64_t pos) {
    coll_exit(r, a, pos);
  }
  void handle(const CollExit& r, const Attributes& a, std::uint64_t pos) { coll_exit(r, a, pos); }
  void handle(const MpiWinCollExit& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    Frame* const f = leave(i, r.time, pos, r.metv);
    if (f == nullptr) return;
    window_collective(*f, r.wid);
  }
  void handle(const MpiWinExit& r, const Attributes&, std::uint64_t pos);

  // ---- messages
  void handle(const MpiSend& r, const Attributes& a, std::uint64_t pos);
  void handle(const MpiRecv& r, const Attributes& a, std::uint64_t pos);
  void handle(const MpiRecvRequest& r, const Attributes&, std::uint64_t pos);
  void handle(const MpiSendComplete& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    Frame& f = frame(i, pos);
    f.completed |= kCompletedMessage;
    found_request(i, f, r.reqid);
    core_.messages.send_complete(f, pos, r.reqid, f.message_call);
  }
  void handle(const MpiRequestTested& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_request_tested(frame(i, pos), r.reqid);
  }
  void handle(const MpiCancelled& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    core_.messages.cancelled(frame(i, pos), pos, r.reqid);
  }
  void handle(const MpiRequestFreed& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) core_.messages.freed(frame(i, pos), pos, r.reqid);
  }
  void handle(const MpiRequestComplete& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    Frame& f = frame(i, pos);
    found_request(i, f, r.reqid);
    f.completed |= r.kind == kDoneCollective
                       ? core_.numbered.complete(f, pos, r.reqid, f.begun_wait)
                   : r.kind == kDoneIo          ? kCompletedIo
                   : r.kind == kDoneGeneralized ? kCompletedGeneralized
                                                : std::uint8_t{0};
  }
  void handle(const MpiCollBegin& r, const Attributes&, std::uint64_t pos);
  void begun_before(const RequestState& r, std::uint32_t i, std::uint64_t pos);
  void handle(const MpiGroupCall& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    Action& action = act(i, pos, Action::Kind::kGroupCall, {}, {}, false);
    action.com = r.cid;
    action.key = raw(r.key);
    action.ordinal = raw(r.ordinal);
  }
  void handle(const MpiProbed& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    const ProcessId source = core_.process_of(r.slid);
    if (is_absent(source)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
    Frame& f = frame(i, pos);
    if (f.role() == MpiRole::kIprobe)
      sink_.on_found(static_cast<const OpenCall&>(f), FoundMessage{source, r.time});
    if (f.role() == MpiRole::kIprobe && !f.polled) return;  // it has not waited
    found_probed(i, f, r.slid, r.cid, r.tag);
    found_message(i, pos, source, r.cid, r.tag, false);
  }

  // ---- partitioned messages
  void handle(const MpiPartBegin& r, const Attributes&, std::uint64_t pos);
  void handle(const MpiPartReady& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) core_.partitioned.ready(frame(i, pos), r.reqid);
  }
  void handle(const MpiPartEnd& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    frame(i, pos).completed |= kCompletedMessage;
    act(i, pos, Action::Kind::kPartEnd, {}, {}, false).request = r.reqid;
  }

  // ---- polls
  void handle(MpiPolled r, const Attributes&, std::uint64_t pos);
  void handle(MpiPoll r, const Attributes&, std::uint64_t pos);

  void handle(const MpiRmaPlace& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    const ProcessId target = core_.process_of(r.dlid);
    if (is_absent(target)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
    RmaPlace place{&frame(i, pos), target, r.wid, r.rmaid};
    place.first = raw(r.disp);
    place.bytes = raw(r.bytes);
    place.reads = (raw(r.kind) & kCallGet) != 0;
    place.writes = (raw(r.kind) & kCallPut) != 0;
    place.swap = raw(r.op) == kPlaceSwap;
    sink_.on_rma_place(place);
  }
  void handle(const MpiValue& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_value(static_cast<const OpenCall&>(frame(i, pos)), r);
  }

  // ---- what is computed, and communicators
  void handle(const Sample& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = trace_.index(r.lid);
    const Seconds last = i == kAbsent ? Seconds{} : core_.stack.head(i).last;
    if (locate(r.lid, r.time, pos) == kAbsent) return;
    const auto [at, fresh] = core_.sampled.try_emplace(i);
    if (fresh || last.value != at->second.at.value) {
      at->second.acted = last;
      sink_.on_first_sample(frame(i, pos));
    }
    at->second.at = r.time;
    sink_.on_sample(frame(i, pos), r.time, r.csid, raw(r.count));
  }
  void handle(const Processor& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    sink_.on_processor(
        frame(i, pos), r.time,
        {raw(r.ran), raw(r.wanted), raw(r.preempted), blocked_kind(raw(r.blocked_kind))});
  }
  void handle(const MpiError& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_failed_call(frame(i, pos), r.time, raw(r.error_class), raw(r.code));
  }
  void handle(const MpiCommCreated& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) sink_.on_comm_created(frame(i, pos), r.cid);
  }

  // ---- the end of a process in the midst of a call
  void handle(MpiOpenCall r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    r.dlid = peer_process(r.dlid);
    r.slid = peer_process(r.slid);
    sink_.on_open_call(frame(i, pos), r);
  }
  void handle(MpiAwaits r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    r.plid = peer_process(r.plid);
    sink_.on_awaits(frame(i, pos), r);
  }
  void handle(const ProcessEnded& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = trace_.index(r.lid);
    Seconds last;
    if (i != kAbsent) {
      last = core_.stack.head(i).last;
      const auto sampled = core_.sampled.find(i);
      if (sampled != core_.sampled.end() && sampled->second.at.value == last.value) {
        last = sampled->second.acted;
      }
    }
    if (locate(r.lid, r.time, pos) == kAbsent) return;
    const Frame* in = &frame(i, pos);
    for (const Frame& f : core_.stack.frames(i)) {
      if (f.function != nullptr) in = &f;
    }
    sink_.on_process_end(*in, last, r.time);
  }

  // ---- transfers
  KOJAK_INLINED void handle(const MpiPut1ts& r, const Attributes& a, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    transfer_now(i, pos, r.time, r.time, r.dlid, r.wid, r.rmaid, Attributes::bytes(r.sent, a.sent),
                 false);
  }
  void handle(const Put1ts& r, const Attributes& a, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    transfer(i, pos, r.time, r.time, r.dlid, absent<WindowId>(), r.rmaid,
             Attributes::bytes(r.sent, a.sent), false);
  }
  void handle(const MpiGet1to& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) core_.get_origin[raw(core_.stack.head(i).process)] = {r.rmaid, i, r.time};
  }
  // Stands on the target's time line and follows the GET_1TO of its origin.
  void handle(const MpiGet1ts& r, const Attributes& a, std::uint64_t pos) {
    get_start(r, r.wid, Attributes::bytes(r.sent, a.sent), pos);
  }
  void handle(const Get1ts& r, const Attributes& a, std::uint64_t pos) {
    get_start(r, absent<WindowId>(), Attributes::bytes(r.sent, a.sent), pos);
  }
  void handle(const RmaMark& r, const Attributes&, std::uint64_t pos) {
    trace_.findings().add(Finding::kMarkedTransfer, pos, r.lid);
    core_.marked = true;
  }
  KOJAK_INLINED void handle(const MpiPut1te& r, const Attributes&, std::uint64_t) {
    put_end(r);
    if (!core_.marked) [[likely]]
      return;
    const std::uint32_t i = trace_.index(r.lid);
    if (i != kAbsent)
      mark(core_.process_of(r.slid), core_.stack.head(i).process, r.wid, r.rmaid, false);
    core_.marked = false;
  }
  KOJAK_INLINED void handle(const MpiGet1te& r, const Attributes&, std::uint64_t) {
    get_end(r);
    if (!core_.marked) [[likely]]
      return;
    const std::uint32_t i = trace_.index(r.lid);
    if (i != kAbsent)
      mark(core_.stack.head(i).process, core_.process_of(r.slid), r.wid, r.rmaid, true);
    core_.marked = false;
  }
  void handle(const Put1te& r, const Attributes&, std::uint64_t) {
    put_end(r);
    core_.marked = false;
  }
  void handle(const Get1te& r, const Attributes&, std::uint64_t) {
    get_end(r);
    core_.marked = false;
  }
  void handle(const MpiRmaComplete& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    Frame& f = frame(i, pos);
    f.completed |= kCompletedRma;
    found_request(i, f, static_cast<RequestId>(raw(r.rmaid)));
    act(i, pos, Action::Kind::kRequestComplete, r.wid, absent<ProcessId>(), false).rmaid = r.rmaid;
  }

  // ---- passive target, assertions
  void handle(const MpiWinLock& r, const Attributes&, std::uint64_t pos) {
    passive_event(r.lid, r.time, pos, Action::Kind::kLock, r.wid, r.llid, raw(r.ltype) != 0);
  }
  void handle(const MpiWinUnlock& r, const Attributes&, std::uint64_t pos) {
    passive_event(r.lid, r.time, pos, Action::Kind::kUnlock, r.wid, r.llid, false);
  }
  void handle(const MpiWinLockAll& r, const Attributes&, std::uint64_t pos) {
    passive_event(r.lid, r.time, pos, Action::Kind::kLockAll, r.wid, absent<PeerId>(), false);
  }
  void handle(const MpiWinUnlockAll& r, const Attributes&, std::uint64_t pos) {
    passive_event(r.lid, r.time, pos, Action::Kind::kUnlockAll, r.wid, absent<PeerId>(), false);
  }
  void handle(const MpiWinFlush& r, const Attributes&, std::uint64_t pos) {
    passive_event(r.lid, r.time, pos, Action::Kind::kFlush, r.wid, r.tlid, raw(r.local) != 0);
  }
  void handle(const MpiAssert& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) frame(i, pos).assertion = static_cast<std::uint8_t>(raw(r.assertion));
  }

  // ---- SHMEM
  void handle(const ShmemPlace& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    LocationState& place = core_.places[i];
    place.placed_in = frame(i, pos).enter_pos;
    place.placed = r.rmaid;
    place.symmetric = {raw(r.offset), raw(r.ctx), raw(r.flags)};
  }
  void handle(const ShmemQuiet& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    const bool one = (raw(r.kind) & kQuietOne) != 0;
    act(i, pos, Action::Kind::kQuiet, {}, {}, false).quiet = {
        raw(r.ctx), raw(r.kind), one ? core_.process_of(r.dlid) : absent<ProcessId>()};
    core_.symmetric.end_stretch(core_.stack.head(i).process, i);
  }
  void handle(const ShmemWait& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    act(i, pos, Action::Kind::kSymmetricWait, {}, {}, false).variable = {
        pos, raw(r.offset), raw(r.bytes), raw(r.cmp), raw(r.value), nullptr};
    found_polled(i, pos,
                 [&](const PolledSeries& s) { return s.first_for_variable(raw(r.offset)); });
  }
  void handle(const ALock& r, const Attributes&, std::uint64_t pos) {
    symmetric_lock(r, pos, true);
  }
  void handle(const RLock& r, const Attributes&, std::uint64_t pos) {
    symmetric_lock(r, pos, false);
  }

  // ---- where a process stands after a gap
  void handle(const WinState& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    core_.windows.resume(process(i), r.wid, raw(r.fences), pos);
    core_.passive.resume_all(process(i), r.wid, raw(r.open));
  }
  void handle(const EpochState& r, const Attributes&, std::uint64_t pos);
  void handle(const CollState& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i != kAbsent) core_.collectives.resume(process(i), r.cid, raw(r.count), pos);
  }
  void handle(const MsgState& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    const ProcessId peer = core_.process_of(r.plid);
    if (is_absent(peer)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
    core_.messages.resume(process(i), r.cid, peer, r.tag, raw(r.sent), raw(r.recvd), pos);
  }
  void handle(const MsgRestarted& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    const ProcessId peer = core_.process_of(r.plid);
    if (is_absent(peer)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
    core_.messages.restart(process(i), r.cid, peer, r.tag, raw(r.sent_before), raw(r.recvd_before));
  }
  void handle(const RequestState& r, const Attributes&, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent || (raw(r.flags) & kRequestReported) != 0) return;
    const auto kind = static_cast<OpenRequest>(raw(r.kind));
    if (kind == OpenRequest::kSend) core_.messages.reopen_send(process(i), r.reqid);
    if (kind == OpenRequest::kCollective) begun_before(r, i, pos);
    if (kind != OpenRequest::kReceive || is_absent(r.cid)) return;
    const bool any = (raw(r.flags) & kAnySource) != 0;
    const ProcessId source = any ? absent<ProcessId>() : core_.process_of(r.plid);
    if (!any && is_absent(source)) return trace_.findings().add(Finding::kUnknownPeer, pos, r.lid);
    core_.messages.reopen(frame(i, pos), pos, r.reqid, source, r.cid, r.tag, raw(r.ordinal));
  }

  // Before the first event.
  void begin(const Standing& standing) {
    for (std::uint32_t i = 0; i < standing.locations.size(); ++i) {
      for (const Standing::Open& open : standing.locations[i].open) {
        enter(i, open.enter, 0, open.region, open.csite, {});
      }
      if (!core_.stack.empty(i)) {
        core_.stack.top(i).nested = -standing.locations[i].goes_on_with;
        core_.stack.top(i).nests = true;
      }
      for (const Standing::Fenced& fenced : standing.locations[i].fenced) {
        core_.windows.begin(process(i), fenced.window, fenced.fences);
      }
      core_.stack.head(i).last = standing.locations[i].last;
      for (const WindowId window : standing.locations[i].held) hold(i, window);
    }
  }
  bool at_rest() const {
    return core_.messages.at_rest() && core_.collectives.at_rest() && core_.numbered.at_rest() &&
           core_.windows.at_rest() && core_.gats.at_rest() && core_.partitioned.at_rest() &&
           core_.passive.at_rest() && !core_.marked;
  }
  void leave_open() { core_.passive.leave_open(); }
  // After the last event.
  void finish();

 private:
  static constexpr std::size_t kMany = 128;  // locations, whose state no longer fits into caches
  static constexpr bool kWantsEnds =
      !std::is_same_v<decltype(&S::on_transfer_end), void (Sink::*)(const TransferEnd&)>;

  ProcessId process(std::uint32_t i) const { return core_.stack.head(i).process; }
  // A lock of all is held since before the first event.
  void hold(std::uint32_t i, WindowId window) {
    Call lock;
    lock.index = i;
    lock.loc = core_.stack.head(i).id;
    lock.process = process(i);
    core_.passive.lock_all(lock, window);
    PassiveStep step{.kind = PassiveStep::Kind::kLockAll, .standing = true};
    step.call = &lock;
    step.window = window;
    sink_.on_passive_step(step);
  }
  PeerId peer_process(PeerId peer) const {
    return is_absent(peer) ? peer : static_cast<PeerId>(raw(core_.process_of(peer)));
  }

  // The number of the event's location, kAbsent if it is unknown; keeps the clock.
  KOJAK_INLINED std::uint32_t locate(LocationId id, Seconds time, std::uint64_t pos) {
    const std::uint32_t i = trace_.index(id);
    if (i == kAbsent) [[unlikely]] {
      trace_.findings().add(Finding::kUnknownLocation, pos, id);
      return i;
    }
    if (time.value < core_.now.value) [[unlikely]] {
      trace_.findings().add(Finding::kDisorder, pos, id);
    } else {
      core_.now = time;
    }
    core_.stack.head(i).last = time;
    return i;
  }

  KOJAK_INLINED void enter(std::uint32_t i, Seconds time, std::uint64_t pos, RegionId region,
                           CallSiteId csite, const MetricValues& values) {
    const RegionInfo* info = core_.region(region);
    if (info == nullptr || !info->known) [[unlikely]] {
      trace_.findings().add(Finding::kUnknownRegion, pos, core_.stack.head(i).id);
      region = trace_.unknown_region();
      info = &core_.unknown_region;
    }
    const CallPathId cnode = core_.tree.enter(core_.stack.top(i).cnode, region, csite, pos);
    if (info->pausing) [[unlikely]]
      core_.pause(i);
    Frame& f = core_.stack.enter(i, info->keeps_holes, values);
    f.loc = core_.stack.head(i).id;
    f.index = i;
    f.process = core_.stack.head(i).process;
    f.cnode = cnode;
    f.region = region;
    f.csite = csite;
    f.function = info->function;
    f.enter = time;
    f.enter_pos = pos;
    f.post = info->post;
    if (info->post) [[unlikely]]
      core_.gats.enter_post(f);
    f.awaits = info->awaits;
    if (info->awaits) [[unlikely]]
      core_.symmetric.enter(f.process, i);
    if (core_.stack.counts()) [[unlikely]] {
      // (Below the outermost instance lies a frame that stands for none.)
      if (core_.stack.depth(i) > 1) sink_.on_counted((&f)[-1], core_.stack.counted());
    }
    sink_.on_enter(static_cast<const OpenCall&>(f));
  }

  // The innermost open instance; events outside any get one of UNKNOWN.
  KOJAK_INLINED Frame& frame(std::uint32_t i, std::uint64_t pos) {
    if (core_.stack.empty(i)) [[unlikely]]
      open_unknown(i, pos);
    return core_.stack.top(i);
  }
  [[gnu::noinline]] void open_unknown(std::uint32_t i, std::uint64_t pos) {
    trace_.findings().add(Finding::kOutsideRegion, pos, core_.stack.head(i).id);
    enter(i, core_.stack.head(i).last, pos, trace_.unknown_region(), absent<CallSiteId>(), {});
  }

  // Closes the innermost instance and tells; nullptr if there is none.
  KOJAK_INLINED Frame* leave(std::uint32_t i, Seconds time, std::uint64_t pos,
                             const MetricValues& values) {
    if (core_.stack.empty(i)) [[unlikely]] {
      trace_.findings().add(Finding::kUnbalancedExit, pos, core_.stack.head(i).id);
      return nullptr;
    }
    Frame& f = core_.stack.leave(i, time, pos, values);
    if (core_.stack.counts()) [[unlikely]]
      sink_.on_counted(static_cast<const OpenCall&>(f), core_.stack.counted());
    sink_.on_call(static_cast<const Call&>(f), core_.stack.exclusive_metrics());
    if (f.transfer.kind != EpochKind::kNone) leave_transfer(f, f.transfer);
    if (f.actions != 0) [[unlikely]]
      perform(f);
    if (f.awaits) [[unlikely]]
      leave_wait(i, f);
    return &f;
  }
  // From where on a write may have ended the waiting of a call.
  std::uint64_t waits_since(std::uint32_t i, const Frame& f) const {
    const bool goes_on = f.joined && core_.places[i].series.goes_on();
    return goes_on ? std::min(core_.symmetric.begun(i), f.enter_pos) : f.enter_pos;
  }
  void leave_wait(std::uint32_t i, const Frame& f) {
    const bool part = f.joined && core_.places[i].series.alone();
    if (!part) return core_.symmetric.leave(f.process);
    core_.symmetric.leave_part(i, waits_since(i, f));
  }
  // After what the exit record itself did.
  KOJAK_INLINED void left(Frame& f) {
    if (f.begun_wait != 0) [[unlikely]] {
      core_.numbered.leave(f.begun_wait, f, [&](const CollectiveWait& w) { tell_wait(w); });
    }
    if (f.post) [[unlikely]]
      core_.gats.leave_post(f);
    if (core_.gats.due(f.exit)) [[unlikely]]
      drain_epochs(f.exit);
    if (f.message_call != 0) {
      core_.messages.leave(f.message_call, f,
                           [&](const MessageCall& m) { sink_.on_message_call(m); });
    }
  }
  void drain_epochs(Seconds time) {
    core_.gats.drain(
        time, [&](const Call& c, const AccessEpoch& a) { sink_.on_epoch_call(c, a); },
        [&](const ExposureEpoch& e) { sink_.on_exposure_transaction(e); },
        [&](const AccessEpoch& a) { sink_.on_access_transaction(a); });
  }
  template <class R>
  KOJAK_INLINED void plain_exit(const R& r, std::uint64_t pos) {
    const std::uint32_t i = locate(r.lid, r.time, pos);
    if (i == kAbsent) return;
    if (Frame* f = leave(i, r.time, pos, r.metv)) left(*f);
  }
  // LOG_ON and EXIT_TRACING close instances of their own region only.
  template <class R>
  void leave_only(const R& r, std::uint64_t pos, RegionId region);
  template <class R>
  void coll_exit(const R& r, const Attributes& a, std::uint64_t pos);
  void window_collective(Frame& f, WindowId window);

  void tell_series(std::uint32_t i, std::uint64_t pos);
  // The call has found the request complete.
  KOJAK_INLINED void found_request(std::uint32_t i, Frame& f, RequestId request) {
    if (!f.polled) [[likely]]
      return;
    f.polled_from = core_.places[i].series.first_for(request).value_or(f.polled_from);
  }
  void found_probed(std::uint32_t i, Frame& f, PeerId source, CommId com, Tag tag) {
    if (!f.polled) return;
    const std::optional<Seconds> first = core_.places[i].series.first_for(source, com, tag);
    f.polled_from = first.value_or(f.polled_from);
  }
  template <class First>
  void found_polled(std::uint32_t i, std::uint64_t pos, First&& first) {
    Frame& f = frame(i, pos);
    if (f.polled) f.polled_from = first(core_.places[i].series).value_or(f.polled_from);
  }
  Action& act(std::uint32_t i, std::uint64_t pos, Action::Kind kind, WindowId window,
              ProcessId target, bool flag) {
    ++frame(i, pos).actions;
    Action& action = core_.places[i].actions.emplace_back();
    action.kind = kind;
    action.flag = flag;
    action.window = window;
    action.target = target;
    return action;
  }
  template <class R>
  void symmetric_lock(const R& r, std::uint64_t pos, bool acquired);
  // What SHMEM_PLACE said of this operation, or of the get before it in the same call.
  const SymmetricPlace* place_of(std::uint32_t i, const Frame& f, RmaId rmaid) const {
    const LocationState& place = core_.places[i];
    if (place.placed_in != f.enter_pos) return nullptr;
    const bool its = rmaid == place.placed || raw(rmaid) == raw(place.placed) + 1;
    return its ? &place.symmetric : nullptr;
  }
  void tell_wait(const CollectiveWait& wait) { sink_.on_collective_wait(wait); }
  // The call that the event lies in found a message; `posted`: and has posted a receive of it.
  void found_message(std::uint32_t i, std::uint64_t pos, ProcessId source, CommId com, Tag tag,
                     bool posted) {
    Action& action = act(i, pos, Action::Kind::kProbe, {}, source, posted);
    action.com = com;
    action.tag = tag;
  }
  void passive_event(LocationId lid, Seconds time, std::uint64_t pos, Action::Kind kind,
                     WindowId window, PeerId peer, bool flag);
  // (In its own handler for puts, which are most.)
  void transfer(std::uint32_t i, std::uint64_t pos, Seconds time, Seconds requested, PeerId peer,
                WindowId window, RmaId rmaid, Bytes64 bytes, bool get) {
    transfer_now(i, pos, time, requested, peer, window, rmaid, bytes, get);
  }
  KOJAK_INLINED void transfer_now(std::uint32_t i, std::uint64_t pos, Seconds time,
                                  Seconds requested, PeerId peer, WindowId window, RmaId rmaid,
                                  Bytes64 bytes, bool get);
  // Only for a sink that wants them.
  template <class R>
  KOJAK_INLINED void put_end(const R& r) {
    if (wants_ends()) tell_end(core_.process_of(r.slid), r);
  }
  template <class R>
  KOJAK_INLINED void get_end(const R& r) {
    if (!wants_ends()) return;
    const std::uint32_t i = trace_.index(r.lid);
    tell_end(i == kAbsent ? absent<ProcessId>() : process(i), r);
  }
  KOJAK_INLINED bool wants_ends() const {
    if constexpr (requires { sink_.wants_transfer_ends(); }) {
      return sink_.wants_transfer_ends();
    } else {
      return kWantsEnds;
    }
  }
  template <class R>
  void tell_end(ProcessId origin, const R& r) {
    if (!is_absent(origin)) sink_.on_transfer_end(TransferEnd{origin, r.rmaid, r.time});
  }
  template <class R>
  void get_start(const R& r, WindowId window, Bytes64 bytes, std::uint64_t pos);
  void mark(ProcessId origin, ProcessId target, WindowId window, RmaId rmaid, bool get);
  KOJAK_INLINED void leave_transfer(const Call& call, const TransferSlot& slot) {
    if (slot.kind == EpochKind::kFence) {
      core_.fences.leave_transfer(call.process, slot, call.exit);
    } else if (slot.kind == EpochKind::kAccess) {
      core_.gats.leave_transfer(slot, call);
    } else {
      core_.passive.leave_transfer(slot, call.exit);
    }
  }
  void perform(Frame& f);
  void tell_step(const Call& call, const Action& a) {
    static_assert(static_cast<int>(Action::Kind::kLock) == 1);
    PassiveStep step;
    step.kind = static_cast<PassiveStep::Kind>(static_cast<int>(a.kind) - 1);
    step.exclusive = a.kind == Action::Kind::kLock && a.flag;
    step.local = a.kind == Action::Kind::kFlush && a.flag;
    step.call = &call;
    step.window = a.window;
    step.target = a.target;
    step.rmaid = a.rmaid;
    sink_.on_passive_step(step);
  }

  Trace& trace_;
  S& sink_;
  ThreadId creator_ = absent<ThreadId>();  // of the task that is entered next
  ReplayCore core_;
};

}  // namespace kojak::earl::detail

#include "earl/detail/replay_handlers_impl.h"
