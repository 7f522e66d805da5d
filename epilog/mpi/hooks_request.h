// Completion of requests: Wait*, Test*, Request_get_status, and their end by free or cancel.
//
// Requests are claimed before the call, because the call may overwrite their handles, and deleted
// after it.
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/hooks_p2p.h"

namespace kojak::measure {

// Kinds of MPI_REQUEST_COMPLETE.
inline constexpr std::uint8_t kCompletedCollective = 1, kCompletedIo = 2, kCompletedGeneralized = 3;

inline bool needs_status(const Request* request) {
  return request != nullptr && request->active &&
         (request->kind == RequestKind::kReceive || request->cancelled);
}

inline bool was_cancelled(const Request& request, const MPI_Status* status) {
  int flag = 0;
  return request.cancelled && status != nullptr &&
         PMPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag != 0;
}

// A communicator made by MPI_Comm_idup is there from now on.
inline void made_communicator(Request& request, Recording* call) {
  Comm* const comm = *request.made == MPI_COMM_NULL ? nullptr : find_comm(*request.made);
  Comm* const made = comm != nullptr || *request.made == MPI_COMM_NULL
                         ? comm
                         : adopt_comm(*request.made, request.identity);
  if (made != nullptr && call != nullptr) call->use(*made);
}

inline void record_completion(Recording& call, const Request& request, std::uint8_t kind) {
  call.event(
      MpiRequestComplete{call.r.lid, call.exit, static_cast<RequestId>(request.id), Byte{kind}});
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
  if (request.kind == RequestKind::kReceive && !cancelled && status != nullptr) {
    received(call, request.comm, *status, request.id);
  } else if (request.kind == RequestKind::kCommDup) {
    made_communicator(request, recording);
  }
  if constexpr (C::kOn) {
    const auto id = static_cast<RequestId>(request.id);
    switch (request.kind) {
      case RequestKind::kSend:
        if (!cancelled) call.event(MpiSendComplete{call.r.lid, call.exit, id});
        break;
      case RequestKind::kTransfer:
        call.event(MpiRmaComplete{call.r.lid, call.exit, static_cast<WindowId>(request.window),
                                  static_cast<RmaId>(request.id)});
        break;
      case RequestKind::kCollective:
        record_completion(call, request, kCompletedCollective);
        break;
      case RequestKind::kIo:
        record_completion(call, request, kCompletedIo);
        break;
      case RequestKind::kGeneralized:
        record_completion(call, request, kCompletedGeneralized);
        break;
      case RequestKind::kReceive:
      case RequestKind::kCommDup:
        break;
    }
    if (cancelled) call.event(MpiCancelled{call.r.lid, call.exit, id});
  }
}

// A claimed request is complete: reported once, then deleted or, if persistent, inactive.
template <class C>
void completed(const Claimed& claimed, const MPI_Status* status, C& call) {
  Request* const request = still(claimed);
  if (request == nullptr) return;
  if (request->active && !request->reported) report(*request, status, call);
  if (request->persistent) {
    request->active = false;
    request->claim = 0;
  } else {
    delete_request(request);
  }
}

// A Test* that completed nothing.
template <class C>
[[gnu::always_inline]] inline void leave_tested(C& call, const Request* request) {
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
      call.p = put(call.p, MpiTestCall{call.r.lid, call.enter, call.exit, call.region, id});
    }
  }
}

// Wait and Test of one request.
struct CompleteOneHook : OwnStatus {
  Claimed claimed;

  template <class A>
  [[gnu::always_inline]] void before(A& a) {
    claimed = claim_one(*a.request);
    if (needs_status(claimed.request)) substitute(a);
  }
  template <class A, class C>
  [[gnu::always_inline]] void after(const A& a, int result, C& call) {
    bool done = result == MPI_SUCCESS;
    if constexpr (requires { a.flag; }) done = done && *a.flag != 0;
    if (done) {
      call.apart([&](C& c) { completed(claimed, a.status, c); });
      if constexpr (C::kOn) call.leave();
    } else if (result != MPI_SUCCESS && *a.request == MPI_REQUEST_NULL) {
      if (Request* request = still(claimed)) delete_request(request);
      if constexpr (C::kOn) call.leave();
    } else {
      unclaim_one(claimed);
      leave_tested(call, result == MPI_SUCCESS ? still(claimed) : nullptr);
    }
  }
};
template <>
struct Hook<args::Wait> : CompleteOneHook {};
template <>
struct Hook<args::Test> : CompleteOneHook {};

// Leaves the request in place: reports its completion once.
template <>
struct Hook<args::RequestGetStatus> : OwnStatus {
  Claimed claimed;

  void before(args::RequestGetStatus& a) {
    claimed = claim_one(a.request);
    unclaim_one(claimed);
    if (needs_status(claimed.request)) substitute(a);
  }
  template <class C>
  void after(const args::RequestGetStatus& a, int result, C& call) {
    Request* const request = still(claimed);
    if (result == MPI_SUCCESS && *a.flag == 0) return leave_tested(call, request);
    if (result == MPI_SUCCESS && request != nullptr && request->active && !request->reported) {
      report(*request, a.status, call);
      request->reported = true;
    }
    if constexpr (C::kOn) call.leave();
  }
};

// Arrays of requests. The claims and our own statuses lie in lists that grow to the longest array
// ever given, one for each such call that is open at the same time.
struct ArrayScratch {
  Vector<Claimed> claimed;
  Vector<MPI_Status> statuses;
  ArrayScratch* next = nullptr;  // while unused
};
ArrayScratch* take_scratch(std::size_t count);  // nullptr without memory
void give_back(ArrayScratch* scratch);

struct ArrayHook {
  ArrayScratch* scratch = nullptr;
  bool status_needed = false;

  void claim_all(int count, const MPI_Request* requests) {
    const auto n = static_cast<std::size_t>(count > 0 ? count : 0);
    scratch = take_scratch(n);
    if (scratch == nullptr) return;
    const std::uint64_t number = next_call_number();
    for (std::size_t i = 0; i < n; ++i) {
      scratch->claimed[i] = claim_request(requests[i], number);
      status_needed |= needs_status(scratch->claimed[i].request);
    }
  }
  void substitute_statuses(MPI_Status*& statuses) {
    if (scratch != nullptr && status_needed && statuses == MPI_STATUSES_IGNORE)
      statuses = scratch->statuses.data();
  }
  // What is not complete stays, for later calls; what a failed call has used up goes.
  void release_all(int count, const MPI_Request* requests, int result) {
    for (int i = 0; i < count; ++i) {
      const Claimed& one = scratch->claimed[static_cast<std::size_t>(i)];
      Request* const request = still(one);
      if (request == nullptr) continue;
      if (result != MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL) {
        delete_request(request);
      } else {
        request->claim = 0;
      }
    }
    give_back(scratch);
  }
  const Request* first_pending(int count) const {
    for (int i = 0; i < count; ++i) {
      const Request* const request = still(scratch->claimed[static_cast<std::size_t>(i)]);
      if (request != nullptr && request->active) return request;
    }
    return nullptr;
  }
  template <class C>
  void complete(int index, const MPI_Status* status, C& call) {
    completed(scratch->claimed[static_cast<std::size_t>(index)], status, call);
  }
};

// Waitall, Testall.
struct CompleteAllHook : ArrayHook {
  template <class A>
  void before(A& a) {
    claim_all(a.count, a.array_of_requests);
    substitute_statuses(a.array_of_statuses);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (scratch == nullptr) {
      if constexpr (C::kOn) call.leave();
      return;
    }
    bool done = result == MPI_SUCCESS;
    if constexpr (requires { a.flag; }) done = done && *a.flag != 0;
    const bool statuses = a.array_of_statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; done && i < a.count; ++i)
      complete(i, statuses ? &a.array_of_statuses[i] : nullptr, call);
    if (done || result != MPI_SUCCESS) {
      if constexpr (C::kOn) call.leave();
    } else {
      leave_tested(call, first_pending(a.count));
    }
    release_all(a.count, a.array_of_requests, result);
  }
};
template <>
struct Hook<args::Waitall> : CompleteAllHook {};
template <>
struct Hook<args::Testall> : CompleteAllHook {};

// Waitany, Testany.
struct CompleteAnyHook : ArrayHook, OwnStatus {
  template <class A>
  void before(A& a) {
    claim_all(a.count, a.array_of_requests);
    if (status_needed) substitute(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (scratch == nullptr) {
      if constexpr (C::kOn) call.leave();
      return;
    }
    bool done = result == MPI_SUCCESS;
    if constexpr (requires { a.flag; }) done = done && *a.flag != 0;
    const bool one = done && *a.index != MPI_UNDEFINED;
    if (one) complete(*a.index, a.status, call);
    if (done || result != MPI_SUCCESS) {
      if constexpr (C::kOn) call.leave();
    } else {
      leave_tested(call, first_pending(a.count));
    }
    release_all(a.count, a.array_of_requests, result);
  }
};
template <>
struct Hook<args::Waitany> : CompleteAnyHook {};
template <>
struct Hook<args::Testany> : CompleteAnyHook {};

// Waitsome, Testsome: statuses are in the order of the indices.
struct CompleteSomeHook : ArrayHook {
  template <class A>
  void before(A& a) {
    claim_all(a.incount, a.array_of_requests);
    substitute_statuses(a.array_of_statuses);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (scratch == nullptr) {
      if constexpr (C::kOn) call.leave();
      return;
    }
    const int count = result == MPI_SUCCESS && *a.outcount != MPI_UNDEFINED ? *a.outcount : 0;
    const bool statuses = a.array_of_statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; i < count; ++i) {
      complete(a.array_of_indices[i], statuses ? &a.array_of_statuses[i] : nullptr, call);
    }
    if (count != 0 || result != MPI_SUCCESS) {
      if constexpr (C::kOn) call.leave();
    } else {
      leave_tested(call, first_pending(a.incount));
    }
    release_all(a.incount, a.array_of_requests, result);
  }
};
template <>
struct Hook<args::Waitsome> : CompleteSomeHook {};
template <>
struct Hook<args::Testsome> : CompleteSomeHook {};

// The handle is free for others as soon as PMPI has it, so the entry goes first.
template <>
struct Hook<args::RequestFree> {
  std::uint32_t active = kNoRequest;  // a message that is still under way

  void before(const args::RequestFree& a) {
    Request* const request = claim_one(*a.request).request;
    if (request == nullptr) return;
    const bool message =
        request->kind == RequestKind::kSend || request->kind == RequestKind::kReceive;
    if (message && request->active && !request->reported) active = request->id;
    delete_request(request);
  }
  template <class C>
  void after(const args::RequestFree&, int result, C& call) {
    if constexpr (C::kOn) {
      if (result == MPI_SUCCESS && active != kNoRequest) {
        call.event(MpiRequestFreed{call.r.lid, call.exit, static_cast<RequestId>(active)});
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
    if (claimed.request != nullptr) claimed.request->cancelled = true;
  }
};

struct IoRequestHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      if (Request* request = enter_request(*a.request, RequestKind::kIo))
        request->id = next_request_id();
    }
    if constexpr (C::kOn) call.leave();
  }
};
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
struct Hook<args::GrequestStart> {
  template <class C>
  void after(const args::GrequestStart& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      if (Request* request = enter_request(*a.request, RequestKind::kGeneralized))
        request->id = next_request_id();
    }
    if constexpr (C::kOn) call.leave();
  }
};

}  // namespace kojak::measure
