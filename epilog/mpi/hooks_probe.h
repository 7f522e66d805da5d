// Probes, and the receives of messages that a probe has matched.
#pragma once

#include "epilog/mpi/hooks_p2p.h"
#include "epilog/mpi/polls.h"

namespace kojak::measure {

inline void record_probed(Recording& call, MPI_Comm handle, const MPI_Status& status) {
  Comm* const comm = cached_comm(the_recorder, handle);
  if (comm == nullptr || status.MPI_SOURCE < 0) return;
  const std::uint32_t peer = comm->peer(status.MPI_SOURCE);
  if (peer == kAbsent || !call.use(*comm)) return;
  call.event(MpiProbed{call.r.lid, call.exit, static_cast<PeerId>(peer),
                       static_cast<CommId>(comm->id), static_cast<Tag>(status.MPI_TAG)});
}
// A probe that found nothing.
template <class H, class A, class C>
void leave_probed(const H& hook, const A& a, C& call) {
  if (joins_polls() && a.source != MPI_PROC_NULL) {
    Comm* const comm = cached_comm(the_recorder, a.comm);
    if (comm == nullptr || use_in_poll(call, *comm)) {
      if (poll_joins(call, hook, a)) return;
    }
  }
  call.leave();
}

// A blocking probe tells which message it found: it waited for that one to be sent.
template <>
struct Hook<args::Probe> : OwnStatus {
  void before(args::Probe& a) { substitute(a); }
  template <class C>
  void after(const args::Probe& a, int result, C& call) {
    if constexpr (C::kOn) {
      if (result == MPI_SUCCESS && a.source != MPI_PROC_NULL)
        record_probed(call, a.comm, *a.status);
      call.leave();
    }
  }
};

// One that does not block: what it has not found it may find the next time.
template <>
struct Hook<args::Iprobe> : OwnStatus {
  static constexpr bool kPolls = true;
  bool polled = false;  // polls before it had asked for the same

  void before(args::Iprobe& a) { substitute(a); }
  bool found_nothing(const args::Iprobe& a, int result) const {
    return result == MPI_SUCCESS && *a.flag == 0;
  }
  PollMember asked(const args::Iprobe& a, RegionId region) const {
    return asks_for_message(a, remembered_comm<find_comm>(the_recorder, a.comm), region);
  }
  template <class C>
  void after(const args::Iprobe& a, int result, C& call) {
    if constexpr (C::kOn) {
      if (found_nothing(a, result)) return leave_probed(*this, a, call);
      if (result == MPI_SUCCESS && polled) record_probed(call, a.comm, *a.status);
      call.leave();
    }
  }
};

// A matched probe is where its message stops being matchable by others: it counts as a posting. An
// Imrecv of the message is the posting of its data, with the same request id, which the receive
// then carries.
struct MatchedProbeHook : OwnStatus {
  template <class A>
  static bool found_nothing(const A& a, int result) {
    return result == MPI_SUCCESS && *a.flag == 0;
  }
  template <class A>
  static PollMember asked(const A& a, RegionId region) {
    return asks_for_message(a, remembered_comm<find_comm>(the_recorder, a.comm), region);
  }
  template <class A>
  void before(A& a) {
    substitute(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if constexpr (C::kOn && requires { a.flag; }) {
      if (found_nothing(a, result)) return leave_probed(*this, a, call);
    }
    bool matched = result == MPI_SUCCESS && a.source != MPI_PROC_NULL;
    if constexpr (requires { a.flag; }) matched = matched && *a.flag != 0;
    Comm* const comm = matched ? cached_comm(the_recorder, a.comm) : nullptr;
    if (comm != nullptr && *a.message != MPI_MESSAGE_NO_PROC) {
      const std::uint32_t id = next_request_id();
      const std::uint32_t peer = posted_peer(*comm, a.status->MPI_SOURCE),
                          tag = posted_tag(a.status->MPI_TAG);
      MatchedMessage* const message = on_own_stack([&] {
        return matched_messages.set(word(*a.message), {id, peer, tag, comm, {}});
      });
      if (message != nullptr) {
        keep_comm(comm);
        post_receive(*comm, peer, tag, next_order(), message->posted);
      }
      if constexpr (C::kOn) record_posted(call, *comm, id, peer, tag);
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::Mprobe> : MatchedProbeHook {};
template <>
struct Hook<args::Improbe> : MatchedProbeHook {
  static constexpr bool kPolls = true;
};

struct MatchedReceiveHook {
  MatchedMessage matched{kAbsent, kAbsent, kAbsent, nullptr, {}};
  Word key = 0;
  template <class A>
  void find(const A& a) {
    key = word(*a.message);
    if (const MatchedMessage* found = matched_messages.find(key)) matched = *found;
    matched_messages.erase(key);
  }
  void settle(int result) {
    if (matched.comm == nullptr) return;
    if (result != MPI_SUCCESS) {
      matched_messages.set(key, matched);
    } else {
      drop_comm(matched.comm);
    }
  }
};
template <>
struct Hook<args::Mrecv> : MatchedReceiveHook, OwnStatus {
  template <class A>
  void before(A& a) {
    substitute(a);
    find(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      received(call, matched.comm, *a.status, matched.id, &matched.posted);
    } else if (was_truncated(result)) {
      on_own_stack([&] {
        received(call, matched.comm, truncated_status(*a.status), matched.id, &matched.posted);
      });
      result = MPI_SUCCESS;
    }
    if constexpr (C::kOn) call.leave();
    settle(result);
  }
};
template <>
struct Hook<args::Imrecv> : MatchedReceiveHook {
  template <class A>
  void before(A& a) {
    find(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && matched.comm != nullptr) {
      if (Request* request = enter_message(*a.request, RequestKind::kReceive, matched.comm)) {
        request->id = matched.id;
        request->peer = matched.peer;
        request->tag = matched.tag;
        request->order = matched.posted.order;
        request->posted = matched.posted;
      } else {
        give_up_receive(*matched.comm, matched.peer, matched.tag, matched.posted);
      }
      if constexpr (C::kOn)
        record_posted(call, *matched.comm, matched.id, matched.peer, matched.tag);
    }
    if constexpr (C::kOn) call.leave();
    settle(result);
  }
};

}  // namespace kojak::measure
