// What calls that poll ask for, and how they join (runtime/polling.h).
#pragma once

#include "epilog/mpi/call.h"

namespace kojak::measure {

inline bool joins_polls() {
  return the_session.config.polls == PollRecording::kJoin;
}

// Nothing but the kind and the place.
inline PollMember asks(PollKind kind, RegionId region) {
  PollMember what;
  what.kind = kind;
  what.site = static_cast<std::uint32_t>(region);
  what.request = what.peer = what.comm = what.tag = what.window = what.target = kAbsent;
  return what;
}
inline PollMember asks_for(const Request* request, RegionId region) {
  PollMember what = asks(PollKind::kRequest, region);
  what.requests = 1;
  if (request == nullptr) return what;
  what.request = request->id;
  if (request->kind == RequestKind::kTransfer) what.window = request->window;
  return what;
}
// A message, by the arguments of a probe.
template <class A>
PollMember asks_for_message(const A& a, const Comm* comm, RegionId region) {
  PollMember what = asks(PollKind::kMessage, region);
  if (comm == nullptr) return what;
  what.comm = comm->id;
  if (a.source != MPI_ANY_SOURCE) what.peer = comm->peer(a.source);
  if (a.tag != MPI_ANY_TAG) what.tag = static_cast<std::uint32_t>(a.tag);
  return what;
}

// Apart, so that the description of what is asked for lies on no other call's stack.
template <class H, class A>
[[gnu::noinline]] bool join_asked(Recorder& r, const H& hook, const A& a, RegionId region,
                                  Ticks enter, Ticks exit) {
  return join_poll(r, hook.asked(a, region), enter, exit);
}
// The poll in hand, which found nothing, becomes part of a series. False: it is to be recorded.
template <class C, class H, class A>
KOJAK_INLINED inline bool poll_joins(C& call, const H& hook, const A& a) {
  if (!joins_polls() || call.entered || !call.good) return false;
  if (!join_asked(call.r, hook, a, call.region, ticks_of(call.enter), ticks_of(call.exit)))
    return false;
  call.p = call.r.cursor;
  return true;
}
// There was nothing left to ask for: that begins no series.
template <class C, class H, class A>
KOJAK_INLINED inline bool idle_joins(C& call, const H& hook, const A& a) {
  return call.r.polling != nullptr && poll_joins(call, hook, a);
}
// What a poll names must be defined in the thread's file. That may take a flush, so it comes before
// the series.
template <class C, class O>
bool use_in_poll(C& call, O& object) {
  if (defined_here(call.r, object.defined)) return true;
  if (call.r.polling != nullptr) interrupt_polls(call.r, true);
  call.p = call.r.cursor;
  return call.use(object);
}

}  // namespace kojak::measure
