// One event of any type as a flat value (Event), from its record.
//
// A handler for EventLoop and for whoever has a record at hand. Internal to earl.
#pragma once

#include "earl/trace.h"
#include "epilog/format/field_values.h"

namespace kojak::earl::detail {

// Copies whatever fields a record has into those of the event that mean the same.
struct FlatEvent {
  Event& event;
  bool native;
  bool have = false;

  template <class R>
  static constexpr bool wants() {
    return true;
  }
  bool go_on() const { return !have; }

  template <class R>
  void handle(const R& r, const Attributes& a, std::uint64_t pos) {
    Event& e = event;
    e = Event{};
    e.pos = pos;
    e.type = R::kType;
    e.loc = r.lid;
    e.time = r.time;
    e.request = a.request;
    if constexpr (requires { r.rid; }) e.reg = r.rid;
    if constexpr (requires { r.csid; }) e.csite = r.csid;
    if constexpr (requires { r.dlid; }) e.peer = r.dlid;
    if constexpr (requires { r.slid; }) e.peer = r.slid;
    if constexpr (requires { r.rlid; }) e.peer = r.rlid;
    if constexpr (requires { r.llid; }) e.peer = r.llid;
    if constexpr (requires { r.tlid; }) e.peer = r.tlid;
    if constexpr (requires { r.plid; }) {
      if (!std::is_same_v<R, MpiPoll> || !is_absent(r.plid)) e.peer = r.plid;
    }
    if constexpr (requires { r.olid; }) e.peer = r.olid;
    if constexpr (requires { r.glid; }) {
      if (native) e.peer = r.glid;  // classic files do not tell it
    }
    if constexpr (requires { r.ctx; }) e.context = raw(r.ctx);
    if constexpr (requires { r.offset; }) e.offset = raw(r.offset);
    if constexpr (requires { r.flags; }) e.code = raw(r.flags);
    if constexpr (requires { r.cmp; }) e.code = raw(r.cmp);
    if constexpr (requires { r.cid; }) e.com = r.cid;
    if constexpr (requires { r.wid; }) e.win = r.wid;
    if constexpr (requires { r.tag; }) e.tag = r.tag;
    if constexpr (requires { r.rmaid; }) e.rmaid = r.rmaid;
    if constexpr (requires { r.reqid; }) e.request = r.reqid;
    if constexpr (requires { r.lkid; }) e.lock = r.lkid;
    if constexpr (requires { r.assertion; }) e.assertion = r.assertion;
    if constexpr (requires { r.synex; }) e.code = raw(r.synex);
    if constexpr (requires { r.ltype; }) e.code = raw(r.ltype);
    if constexpr (requires { r.local; }) e.code = raw(r.local);
    if constexpr (requires { r.reason; }) e.code = raw(r.reason);
    if constexpr (requires { r.open; }) e.code = raw(r.open);
    if constexpr (requires { r.kind; }) e.completes = raw(r.kind);
    if constexpr (requires { r.metv; }) e.metv = r.metv;
    if constexpr (std::is_same_v<R, MsgState>) {
      e.count[0] = raw(r.sent);
      e.count[1] = raw(r.recvd);
    } else if constexpr (std::is_same_v<R, MsgRestarted>) {
      e.count[0] = raw(r.sent_before);
      e.count[1] = raw(r.recvd_before);
    } else if constexpr (std::is_same_v<R, RequestState>) {
      e.count[0] = raw(r.ordinal);
    } else if constexpr (std::is_same_v<R, EpochState>) {
      e.count[0] = raw(r.access);
      e.count[1] = raw(r.exposure);
      e.count[2] = raw(r.ops);
    } else if constexpr (std::is_same_v<R, WinState>) {
      e.count[0] = raw(r.fences);
    } else if constexpr (std::is_same_v<R, CollState>) {
      e.count[0] = raw(r.count);
    } else if constexpr (std::is_same_v<R, MpiError>) {
      e.code = raw(r.error_class);
      e.count[0] = raw(r.code);
    } else if constexpr (std::is_same_v<R, MpiPolled>) {
      e.code = raw(r.judged);
      e.completes = raw(r.end);
      e.count[0] = raw(r.count);
      e.count[1] = raw(r.members);
      e.count[2] = raw(r.flags);
    } else if constexpr (std::is_same_v<R, MpiPoll>) {
      e.count[0] = raw(r.count);
      e.count[1] = raw(r.value);
      e.count[2] = raw(r.other);
      e.offset = raw(r.disp);
      e.code = raw(r.bytes);
      e.first_enter = r.first_enter;
      e.last_enter = r.last_enter;
    } else if constexpr (std::is_same_v<R, MpiRmaPlace>) {
      e.offset = raw(r.disp);
      e.count[0] = raw(r.bytes);
      e.code = raw(r.op);
    } else if constexpr (std::is_same_v<R, MpiValue>) {
      e.count[0] = raw(r.value);
      e.count[1] = raw(r.other);
    } else if constexpr (std::is_same_v<R, ShmemQuiet>) {
      if ((raw(r.kind) & kQuietOne) == 0) e.peer = absent<PeerId>();
    } else if constexpr (std::is_same_v<R, MpiOpenCall>) {
      e.count[0] = raw(r.ordinal);
    } else if constexpr (std::is_same_v<R, ShmemWait>) {
      e.count[0] = raw(r.value);
      e.sent = static_cast<Bytes64>(std::uint64_t{raw(r.bytes)});
      e.has_length = true;
    } else {
      if constexpr (requires { r.sent; }) {
        e.sent = Attributes::bytes(r.sent, a.sent);
        e.has_length = true;
      }
      if constexpr (requires { r.recvd; }) {
        // Classic files tell it at collectives only.
        e.has_length = native || std::is_same_v<R, MpiCollExit> || std::is_same_v<R, CollExit>;
        if (e.has_length) e.recvd = Attributes::bytes(r.recvd, a.recvd);
      }
    }
    have = true;
  }
};

// The region that an event enters, also where the record does not name it.
inline void resolve_region(const Trace& trace, Event& event) {
  switch (event.type) {
    case EventType::kEnterCs: {
      const CallSiteDef* site = trace.definitions().call_sites.find(event.csite);
      if (site != nullptr) event.reg = site->entered;
      [[fallthrough]];
    }
    case EventType::kEnter:
      if (!trace.known_region(event.reg)) event.reg = trace.unknown_region();
      return;
    case EventType::kLogOff:
      event.reg = trace.pausing_region();
      return;
    case EventType::kEnterTracing:
      event.reg = trace.tracing_region();
      return;
    default:
      return;
  }
}

}  // namespace kojak::earl::detail
