// Completion of requests: Wait*, Test*, Request_get_status, and their end by free or cancel.
//
// What the handles stand for is kept before the call, because the call may overwrite them.
// Long because each of MPI's fifteen such calls has its hook here, and what becomes of requests
// when such a call fails.
#pragma once

#include "epilog/format/field_values.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/hooks_p2p.h"
#include "epilog/mpi/polls.h"
#include "epilog/mpi/reads.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

inline bool needs_status(const Request* request) {
  return request != nullptr && request->active &&
         (request->kind == RequestKind::kReceive || request->cancelled);
}

inline bool was_cancelled(const Request& request, const MPI_Status* status) {
  int flag = 0;
  return request.cancelled && status != nullptr &&
         mpi::Test_cancelled(status, &flag) == MPI_SUCCESS && flag != 0;
}

// A communicator made by MPI_Comm_idup is there from now on.
inline void made_communicator(Request& request, Recording* call) {
  on_own_stack([&request, call] {
    const MPI_Comm handle = *request.made;
    if (handle == MPI_COMM_NULL) return;
    Comm* made = find_comm(handle);
    if (made == nullptr) made = adopt_comm(handle, request.identity);
    if (made != nullptr && call != nullptr) call->use(*made);
  });
}

inline void record_completion(Recording& call, const Request& request, Byte kind) {
  call.event(MpiRequestComplete{call.r.lid, call.exit, static_cast<RequestId>(request.id), kind});
}

// Whether the status of a receive is about the message that it took: MPICH 4.0 does not fill in
// that of MPI_Isendrecv.
inline bool tells_message(const Request& request, const MPI_Status& status) {
  if (status.MPI_SOURCE < 0) return true;
  if (request.tag != kAbsent && request.tag != static_cast<std::uint32_t>(status.MPI_TAG))
    return false;
  if (request.peer != kAbsent && request.comm != nullptr &&
      request.peer != request.comm->peer(status.MPI_SOURCE)) {
    return false;
  }
#if defined(MPICH)
  const bool any = request.peer == kAbsent && request.tag == kAbsent;
  if (any && request.send_half != kNoRequest) return status.MPI_SOURCE != 0 || status.MPI_TAG != 0;
#endif
  return true;
}
// A receive got a message. Without `status` it is the one that was asked for, of unknown size; from
// any source or with any tag nobody knows which one it was, as with a freed receive.
template <class C>
KOJAK_INLINED inline void received_by(C& call, Request& request, const MPI_Status* status) {
  const std::uint32_t peer = status != nullptr ? source_of(request.comm, *status) : request.peer;
  const std::uint32_t tag =
      status != nullptr ? static_cast<std::uint32_t>(status->MPI_TAG) : request.tag;
  if (request.comm != nullptr && peer != kAbsent && tag != kAbsent) {
    received_from(call, *request.comm, peer, tag, status, request.id, &request.posted);
  } else if constexpr (C::kOn) {
    if (status == nullptr)
      call.event(MpiRequestFreed{call.r.lid, call.exit, static_cast<RequestId>(request.id)});
  }
}

// Found complete and not reported before: its event. `status` may be null for kinds that need none.
template <class C>
void report(Request& request, const MPI_Status* status, C& call) {
  Recording* recording = nullptr;
  if constexpr (C::kOn) {
    if (!call.room(kMaxRecord)) return;
    recording = &call;
  }
  const bool cancelled = was_cancelled(request, status);
  if constexpr (C::kOn) {
    if (request.send_half != kNoRequest) {
      call.event(MpiSendComplete{call.r.lid, call.exit, static_cast<RequestId>(request.send_half)});
    }
  }
  if (request.kind == RequestKind::kReceive && !cancelled && status != nullptr) {
    received_by(call, request, tells_message(request, *status) ? status : nullptr);
  } else if (request.kind == RequestKind::kCommDup) {
    made_communicator(request, recording);
  }
  if constexpr (C::kOn) {
    const auto id = static_cast<RequestId>(request.id);
    switch (request.kind) {
      case RequestKind::kPartitionedSend:
      case RequestKind::kPartitionedReceive:
        if (!cancelled && request.peer != kAbsent)
          call.event(MpiPartEnd{call.r.lid, call.exit, id});
        break;
      case RequestKind::kSend:
        if (!cancelled) call.event(MpiSendComplete{call.r.lid, call.exit, id});
        break;
      case RequestKind::kTransfer:
        call.event(MpiRmaComplete{call.r.lid, call.exit, static_cast<WindowId>(request.window),
                                  static_cast<RmaId>(request.id)});
        completed_read(call, request);
        break;
      case RequestKind::kCollective:
        record_completion(call, request, kDoneCollective);
        break;
      case RequestKind::kIo:
        record_completion(call, request, kDoneIo);
        break;
      case RequestKind::kGeneralized:
        record_completion(call, request, kDoneGeneralized);
        break;
      case RequestKind::kReceive:
      case RequestKind::kCommDup:
        break;
    }
    if (cancelled) call.event(MpiCancelled{call.r.lid, call.exit, id});
  }
}

// A request is complete: reported once, then deleted or, if persistent, inactive. `handle` is what
// the call left of it.
template <class C>
void completed(Request* request, const MPI_Status* status, MPI_Request handle, C& call) {
  ++ended_requests;
  if (request == nullptr) return;
  if (request->active && !request->reported) report(*request, status, call);
  if (request->persistent) {
    unpost(*request);
    request->active = false;
    request->claim = 0;
    rename_request(*request, handle);
  } else {
    delete_request(request);
  }
}

// What a call that failed has done with a request, by the error that it tells of this one. It is
// over if its handle is gone; a persistent one keeps its handle.
inline bool is_gone(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || word(handle) == 0;  // Fortran's number of none has no handle
}
inline bool is_over(const Request* request, MPI_Request handle, int error) {
  if (is_gone(handle)) return true;
  if (request == nullptr || !request->persistent || !request->active) return false;
  const int what = error_class_of(error);
  return what != MPI_ERR_PENDING && what != MPI_ERR_REQUEST && what != MPI_ERR_ARG;
}
// It is over: a receive whose message was too long has taken it.
template <class C>
[[gnu::cold, gnu::noinline]] void end_failed(Request* request, const MPI_Status* status,
                                             MPI_Request handle, int error, C& call) {
  const int what = error_class_of(error);
  if (what == MPI_ERR_TRUNCATE && status != nullptr) {
    const MPI_Status truncated = truncated_status(*status);
    return completed(request, &truncated, handle, call);
  }
  if (what == MPI_SUCCESS || what == MPI_ERR_TRUNCATE) {
    return completed(request, status, handle, call);
  }
  ++ended_requests;
  if (request == nullptr) return;
  if (!request->persistent) return delete_request(request);
  unpost(*request);
  request->active = false;
  request->claim = 0;
  rename_request(*request, handle);
}
// It is over, and nobody says how: a receive has most likely got what it was posted for.
template <class C>
[[gnu::cold, gnu::noinline]] void end_untold(Request* request, C& call) {
  ++ended_requests;
  if (request == nullptr) return;
  if (request->kind == RequestKind::kReceive && request->active && !request->reported) {
    if constexpr (C::kOn) {
      if (!call.room(kMaxRecord)) return;
    }
    received_by(call, *request, nullptr);
  }
  delete_request(request);
}

// A Test* that completed nothing.
template <class C>
KOJAK_INLINED inline void leave_tested(C& call, const Request* request) {
  if constexpr (C::kOn) {
    if (request == nullptr || !request->active || request->kind == RequestKind::kTransfer ||
        !call.good) {
      return call.leave();
    }
    const auto id = static_cast<RequestId>(request->id);
    if (call.entered) {
      call.event(MpiRequestTested{call.r.lid, call.exit, id});
      call.leave();
    } else {
      call.whole(MpiTestCall{call.r.lid, call.enter, call.exit, call.region, id});
    }
  }
}

// The same where polls are joined.
template <class C, class H, class A>
KOJAK_INLINED inline void leave_polled(C& call, const Request* request, const H& hook, const A& a) {
  if constexpr (C::kOn) {
    if (!poll_joins(call, hook, a)) leave_tested(call, request);
  }
}

// One request that is tested: whether there is one at all.
struct TestedOne {
  Claimed claimed;
  bool none = false;
  void claim(MPI_Request handle) {
    claimed = claim_one(handle);
    none = is_gone(handle);
  }
  bool is_idle() const {
    const Request* const request = still(claimed);
    return none || (request != nullptr && !request->active);
  }
  template <class A>
  bool found_nothing(const A& a, int result) const {
    return result == MPI_SUCCESS && (*a.flag == 0 || is_idle());
  }
  template <class A>
  PollMember asked(const A&, RegionId region) const {
    return asks_for(still(claimed), region);
  }
};

// Wait and Test of one request.
struct CompleteOneHook : OwnStatus, TestedOne {
  template <class A>
  KOJAK_INLINED void before(A& a) {
    claim(*a.request);
    if (needs_status(claimed.request)) substitute(a);
  }
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    bool done = result == MPI_SUCCESS;
    if constexpr (requires { a.flag; }) done = done && *a.flag != 0;
    if (done) {
      const bool idle = C::kOn && is_idle();
      call.apart([&](C& c) { completed(still(claimed), a.status, *a.request, c); });
      if constexpr (C::kOn) {
        if (idle && idle_joins(call, *this, a)) return;
        call.leave();
      }
    } else if (result != MPI_SUCCESS) [[unlikely]] {
      call.apart([&](C& c) { on_own_stack([&] { failed(a, result, c); }); });
      if constexpr (C::kOn) call.leave();
    } else {
      unclaim_one(claimed);
      leave_polled(call, still(claimed), *this, a);
    }
  }
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] void failed(const A& a, int result, C& call) {
    Request* const request = still(claimed);
    if (is_over(request, *a.request, result)) {
      end_failed(request, a.status, *a.request, result, call);
    } else {
      unclaim_one(claimed);
    }
  }
};
template <>
struct Hook<args::Wait> : CompleteOneHook {
  static constexpr bool kCompletesReads = true;
};
template <>
struct Hook<args::Test> : CompleteOneHook {
  static constexpr bool kPolls = true;
};

// Leaves the request in place: reports its completion once.
template <>
struct Hook<args::RequestGetStatus> : OwnStatus, TestedOne {
  static constexpr bool kPolls = true;

  void before(args::RequestGetStatus& a) {
    claim(a.request);
    unclaim_one(claimed);
    if (needs_status(claimed.request)) substitute(a);
  }
  template <class C>
  void after(const args::RequestGetStatus& a, int result, C& call) {
    Request* const request = still(claimed);
    if constexpr (C::kOn) {
      const bool nothing = result == MPI_SUCCESS && *a.flag == 0;
      if (nothing) return leave_polled(call, request, *this, a);
      if (found_nothing(a, result) && idle_joins(call, *this, a)) return;
    }
    if (result == MPI_SUCCESS && *a.flag != 0 && request != nullptr && request->active &&
        !request->reported) {
      report(*request, a.status, call);
      request->reported = true;
    }
    if constexpr (C::kOn) call.leave();
  }
};

struct ArrayHook {
  static constexpr bool kTellsErrors = true;
  ArrayCall* array = nullptr;

  void begin(int count, const MPI_Request* requests) {
    const bool any = count > 0 && requests != nullptr;
    array = begin_array_call(requests, any ? static_cast<std::size_t>(count) : 0);
  }
  void substitute_statuses(MPI_Status*& statuses) {
    if (array != nullptr && statuses == MPI_STATUSES_IGNORE && statuses_are_needed() &&
        array->statuses.resize(array->count)) {
      statuses = array->statuses.data();
    }
  }
  // Without memory for the array nothing is known of its requests.
  template <class C>
  void end_unknown(int result, C& call) {
    if constexpr (C::kOn) {
      if (result != MPI_SUCCESS) record_failure(call, result);
      call.leave();
    }
  }
  const Request* first_pending() const {
    return array->find_pending(1, false) != 0 ? still(array->pending[0].claimed) : nullptr;
  }
  template <class A>
  PollMember asked(const A&, RegionId region) const {
    if (array == nullptr) return asks(PollKind::kRequest, region);
    PollMember what = asks_for(first_pending(), region);
    what.requests = static_cast<std::uint32_t>(array->count);
    return what;
  }
  // The end of the call: `found` nothing, so it only tested; or something. Or it had nothing to ask
  // for: `idle`.
  template <class A, class C>
  void end(bool found, const A& a, C& call, bool idle = false) {
    if constexpr (C::kOn) {
      if (!found) {
        if (!poll_joins(call, *this, a)) leave_tested(call, first_pending());
      } else if (!idle || !idle_joins(call, *this, a)) {
        call.leave();
      }
    }
    end_array_call(*array);
  }
  template <class A>
  bool found_nothing(const A& a, int result) const {
    if (result != MPI_SUCCESS || array == nullptr) return false;
    if constexpr (requires { a.outcount; }) {
      return *a.outcount == MPI_UNDEFINED || *a.outcount == 0;
    } else if constexpr (requires { a.flag; }) {
      if (*a.flag == 0) return true;
      if constexpr (requires { a.index; }) return *a.index == MPI_UNDEFINED;
      return first_pending() == nullptr;
    }
    return false;
  }
  template <class A, class C>
  bool is_idle(const A& a, int result, const C& call) const {
    if constexpr (C::kOn) return call.r.polling != nullptr && found_nothing(a, result);
    return false;
  }
  // In a call that failed each request's own status tells what became of it.
  template <class C>
  void settle(int index, const MPI_Request* requests, const MPI_Status& status, ToldErrors& errors,
              C& call) {
    const auto place = static_cast<std::size_t>(index);
    if (place >= array->count || is_gone(array->handles[place])) return;
    const int what = error_class_of(status.MPI_ERROR);
    if (what == MPI_ERR_PENDING) return;
    if (what != MPI_SUCCESS) errors.tell(status.MPI_ERROR, call);
    Request* const request = array->at(place);
    if (!is_over(request, requests[index], status.MPI_ERROR)) return;
    end_failed(request, &status, requests[index], status.MPI_ERROR, call);
    array->left(place, requests[index]);
  }
  // The end of a call that failed, when settle() has been told all that statuses say: what else it
  // has used up goes. (`sure`: what went did so with an error, not with its message.)
  template <class C>
  void end_failed_array(const MPI_Request* requests, int result, bool sure, ToldErrors& errors,
                        C& call) {
    if (!errors.any() && result != kNotSeen) errors.tell(result, call);
    for (std::size_t i = 0; i < array->count; ++i) {
      if (!is_gone(requests[i]) || is_gone(array->handles[i])) continue;
      Request* const request = array->at(i);
      if (sure) {
        ++ended_requests;
        if (request != nullptr) delete_request(request);
      } else {
        end_untold(request, call);
      }
    }
    if constexpr (C::kOn) call.leave();
    end_array_call(*array);
  }
  static bool in_status(int result) {
    return result != kNotSeen && error_class_of(result) == MPI_ERR_IN_STATUS;
  }
  static bool takes_messages(int result) { return in_status(result) || was_truncated(result); }
  template <class C>
  void complete(int index, const MPI_Request* requests, const MPI_Status* status, C& call) {
    const auto place = static_cast<std::size_t>(index);
    if (place >= array->count) return;
    completed(array->at(place), status, requests[index], call);
    array->left(place, requests[index]);
  }
};

// Waitall, Testall.
struct CompleteAllHook : ArrayHook {
  template <class A>
  void before(A& a) {
    begin(a.count, a.array_of_requests);
    substitute_statuses(a.array_of_statuses);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (array == nullptr) return end_unknown(result, call);
    if (result != MPI_SUCCESS) [[unlikely]]
      return on_own_stack([&] { failed(a, result, call); });
    bool done = true;
    if constexpr (requires { a.flag; }) done = *a.flag != 0;
    const bool statuses = a.array_of_statuses != MPI_STATUSES_IGNORE;
    const bool idle = is_idle(a, result, call);
    for (int i = 0; done && i < a.count; ++i)
      complete(i, a.array_of_requests, statuses ? &a.array_of_statuses[i] : nullptr, call);
    end(done, a, call, idle);
  }
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] void failed(const A& a, int result, C& call) {
    ToldErrors errors;
    if (a.array_of_statuses != MPI_STATUSES_IGNORE && in_status(result)) {
      for (int i = 0; i < a.count; ++i)
        settle(i, a.array_of_requests, a.array_of_statuses[i], errors, call);
    }
    end_failed_array(a.array_of_requests, result, errors.any() || !takes_messages(result), errors,
                     call);
  }
};
template <>
struct Hook<args::Waitall> : CompleteAllHook {};
template <>
struct Hook<args::Testall> : CompleteAllHook {
  static constexpr bool kPolls = true;
};

// Waitany, Testany.
struct CompleteAnyHook : ArrayHook, OwnStatus {
  template <class A>
  void before(A& a) {
    begin(a.count, a.array_of_requests);
    if (statuses_are_needed()) substitute(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (array == nullptr) return end_unknown(result, call);
    if (result != MPI_SUCCESS) [[unlikely]]
      return on_own_stack([&] { failed(a, result, call); });
    bool done = true;
    if constexpr (requires { a.flag; }) done = *a.flag != 0;
    const bool one = done && *a.index != MPI_UNDEFINED;
    if (one) complete(*a.index, a.array_of_requests, a.status, call);
    end(done, a, call, !one && is_idle(a, result, call));
  }
  // The error is that of the one whose handle is gone.
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] void failed(const A& a, int result, C& call) {
    ToldErrors errors;
    for (std::size_t i = 0; i < array->count && result != kNotSeen; ++i) {
      if (!is_gone(a.array_of_requests[i]) || is_gone(array->handles[i])) continue;
      const bool told = a.status != MPI_STATUS_IGNORE;
      errors.tell(result, call);
      end_failed(array->at(i), told ? a.status : nullptr, a.array_of_requests[i], result, call);
      array->left(i, a.array_of_requests[i]);
      break;
    }
    end_failed_array(a.array_of_requests, result, true, errors, call);
  }
};
template <>
struct Hook<args::Waitany> : CompleteAnyHook {};
template <>
struct Hook<args::Testany> : CompleteAnyHook {
  static constexpr bool kPolls = true;
};

// Waitsome, Testsome: statuses are in the order of the indices.
struct CompleteSomeHook : ArrayHook {
  template <class A>
  void before(A& a) {
    begin(a.incount, a.array_of_requests);
    substitute_statuses(a.array_of_statuses);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (array == nullptr) return end_unknown(result, call);
    if (result != MPI_SUCCESS) [[unlikely]]
      return on_own_stack([&] { failed(a, result, call); });
    const int count = *a.outcount != MPI_UNDEFINED ? *a.outcount : 0;
    const bool statuses = a.array_of_statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; i < count; ++i) {
      complete(a.array_of_indices[i], a.array_of_requests,
               statuses ? &a.array_of_statuses[i] : nullptr, call);
    }
    end(count != 0, a, call);
  }
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] void failed(const A& a, int result, C& call) {
    ToldErrors errors;
    if (a.array_of_statuses != MPI_STATUSES_IGNORE && in_status(result)) {
      const int told = *a.outcount <= a.incount ? *a.outcount : 0;
      for (int i = 0; i < told; ++i)
        settle(a.array_of_indices[i], a.array_of_requests, a.array_of_statuses[i], errors, call);
    }
    end_failed_array(a.array_of_requests, result, errors.any() || !takes_messages(result), errors,
                     call);
  }
};
template <>
struct Hook<args::Waitsome> : CompleteSomeHook {};
template <>
struct Hook<args::Testsome> : CompleteSomeHook {
  static constexpr bool kPolls = true;
};

// Request_get_status_any, _all, _some: what is found complete is reported once, and stays.
struct StatusOfSomeHook : ArrayHook, OwnStatus {
  template <class A>
  void before(A& a) {
    if constexpr (requires { a.incount; }) {
      begin(a.incount, a.array_of_requests);
    } else {
      begin(a.count, a.array_of_requests);
    }
    if constexpr (requires { a.array_of_statuses; }) {
      substitute_statuses(a.array_of_statuses);
    } else {
      if (statuses_are_needed()) substitute(a);
    }
  }
  template <class C>
  void tell(int index, const MPI_Status* found, C& call) {
    const auto place = static_cast<std::size_t>(index);
    Request* request = place < array->count ? array->at(place) : nullptr;
    // Where several have one handle, the next that is not told of yet.
    while (request != nullptr && request->reported) request = request->next;
    if (request == nullptr || !request->active) return;
    report(*request, found, call);
    request->reported = true;
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (array == nullptr) return end_unknown(result, call);
    if (result != MPI_SUCCESS) [[unlikely]]
      return on_own_stack([&] { failed(a, result, call); });
    int found = 0;
    if constexpr (requires { a.incount; }) {
      found = *a.outcount != MPI_UNDEFINED ? *a.outcount : 0;
      for (int i = 0; i < found; ++i) tell(a.array_of_indices[i], status_at(a, i), call);
    } else {
      found = *a.flag != 0 ? 1 : 0;
      if constexpr (requires { a.index; }) {
        if (found != 0 && *a.index != MPI_UNDEFINED) tell(*a.index, a.status, call);
      } else {
        for (int i = 0; found != 0 && i < a.count; ++i) tell(i, status_at(a, i), call);
      }
    }
    end(found != 0, a, call);
  }
  // It leaves all requests where they are.
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] void failed(const A& a, int result, C& call) {
    ToldErrors errors;
    end_failed_array(a.array_of_requests, result, true, errors, call);
  }
  template <class A>
  static const MPI_Status* status_at(const A& a, int i) {
    return a.array_of_statuses != MPI_STATUSES_IGNORE ? &a.array_of_statuses[i] : nullptr;
  }
};
template <>
struct Hook<args::RequestGetStatusAny> : StatusOfSomeHook {
  static constexpr bool kPolls = true;
};
template <>
struct Hook<args::RequestGetStatusAll> : StatusOfSomeHook {
  static constexpr bool kPolls = true;
};
template <>
struct Hook<args::RequestGetStatusSome> : StatusOfSomeHook {
  static constexpr bool kPolls = true;
};

// The handle is free for others as soon as PMPI has it, so the entry goes first.
template <>
struct Hook<args::RequestFree> {
  std::uint32_t active = kNoRequest;  // a message that is still under way
  std::uint32_t send_half = kNoRequest;

  void before(const args::RequestFree& a) {
    Request* const request = claim_one(*a.request).request;
    ++ended_requests;
    if (request == nullptr) return;
    const bool message =
        request->kind == RequestKind::kSend || request->kind == RequestKind::kReceive;
    if (message && request->active && !request->reported) {
      active = request->id;
      send_half = request->send_half;
      // It takes its message all the same.
      if (request->posted.count != nullptr)
        count_received(*request->comm, request->peer, request->tag, &request->posted);
    }
    delete_request(request);
  }
  template <class C>
  void after(const args::RequestFree&, int result, C& call) {
    if constexpr (C::kOn) {
      for (const std::uint32_t id : {send_half, active}) {
        if (result == MPI_SUCCESS && id != kNoRequest)
          call.event(MpiRequestFreed{call.r.lid, call.exit, static_cast<RequestId>(id)});
      }
      call.leave();
    }
  }
};

template <>
struct Hook<args::Cancel> {
  void before(const args::Cancel& a) {
    const Claimed claimed = claim_one(*a.request);
    unclaim_one(claimed);
    if (claimed.request != nullptr) cancelled_request(*claimed.request);
  }
};

// Begins what completes without a message: a transfer to a file, a generalized request, the flush
// of a buffer.
template <RequestKind kKind>
struct BeginsRequestHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      if (Request* request = enter_request(*a.request, kKind)) request->id = next_request_id();
    }
    if constexpr (C::kOn) call.leave();
  }
};
using IoRequestHook = BeginsRequestHook<RequestKind::kIo>;
using OtherRequestHook = BeginsRequestHook<RequestKind::kGeneralized>;

template <>
struct Hook<args::FileIread> : IoRequestHook {};
template <>
struct Hook<args::FileIreadAll> : IoRequestHook {};
template <>
struct Hook<args::FileIreadAt> : IoRequestHook {};
template <>
struct Hook<args::FileIreadAtAll> : IoRequestHook {};
template <>
struct Hook<args::FileIreadShared> : IoRequestHook {};
template <>
struct Hook<args::FileIwrite> : IoRequestHook {};
template <>
struct Hook<args::FileIwriteAll> : IoRequestHook {};
template <>
struct Hook<args::FileIwriteAt> : IoRequestHook {};
template <>
struct Hook<args::FileIwriteAtAll> : IoRequestHook {};
template <>
struct Hook<args::FileIwriteShared> : IoRequestHook {};

template <>
struct Hook<args::GrequestStart> : OtherRequestHook {};
template <>
struct Hook<args::XCommIagree> : OtherRequestHook {};
template <>
struct Hook<args::BufferIflush> : OtherRequestHook {};
template <>
struct Hook<args::CommIflushBuffer> : OtherRequestHook {};
template <>
struct Hook<args::SessionIflushBuffer> : OtherRequestHook {};

}  // namespace kojak::measure
