// MPI_Start and MPI_Startall: each start of a persistent request is an operation of its own.
//
// The request is looked up by its handle before the call, because the call may leave another handle
// there; then it is known by that one.
#pragma once

#include "epilog/mpi/hooks_partitioned.h"

namespace kojak::measure {

struct StartHook {
  // `handle` is what the call left in the request: buffered sends of Open MPI get another at every
  // start.
  template <class C>
  static void started(Request& request, MPI_Request handle, C& call) {
    rename_request(request, handle);
    if (!request.persistent) return;
    activate_request(request);
    request.id = next_request_id();
    request.given = 0;
    ++request.starts;
    if (request.kind == RequestKind::kSend && request.peer != kAbsent) {
      count_sent(*request.comm, request.peer, request.tag);
    } else if (request.kind == RequestKind::kReceive) {
      post(request);
    }
    if constexpr (C::kOn) {
      if (!call.room(kMaxRecord)) return;
      if (request.kind == RequestKind::kCollective) {
        record_begun(call, *request.comm, request);
      } else if (is_partitioned(request)) {
        record_channel(call, request);
      } else if (request.kind == RequestKind::kReceive) {
        record_posted(call, *request.comm, request.id, request.peer, request.tag);
      } else if (request.kind == RequestKind::kSend && request.peer != kAbsent) {
        record_send(call, *request.comm, request.peer, request.tag, request.bytes, request.id);
      }
    }
  }
};
template <>
struct Hook<args::Start> : StartHook {
  Claimed claimed;

  void before(const args::Start& a) { claimed = claim_one(*a.request); }
  template <class C>
  void after(const args::Start& a, int result, C& call) {
    Request* const request = still(claimed);
    if (request != nullptr && result == MPI_SUCCESS) started(*request, *a.request, call);
    unclaim_one(claimed);
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::Startall> : ArrayHook, StartHook {
  static constexpr bool kTellsErrors = false;
  void before(const args::Startall& a) { begin(a.count, a.array_of_requests); }
  template <class C>
  void after(const args::Startall& a, int result, C& call) {
    if (array != nullptr && result == MPI_SUCCESS) {
      for (std::size_t i = 0; i < array->count; ++i) {
        if (Request* request = array->at(i)) started(*request, a.array_of_requests[i], call);
      }
    }
    if constexpr (C::kOn) call.leave();
    if (array != nullptr) end_array_call(*array);
  }
};

}  // namespace kojak::measure
