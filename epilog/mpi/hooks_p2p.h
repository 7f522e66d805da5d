// Messages: sends, receives, and the making of persistent ones.
//
// MPI_SEND stands right after ENTER, MPI_RECV before the exit with what the status says. What is
// started without waiting gets a request id, which stands before its event.
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

inline std::uint64_t message_bytes(MPI_Count count, MPI_Datatype type) {
  if (count <= 0) return 0;
  MPI_Count size = 0;
  if (mpi::Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}
inline constexpr std::uint32_t kNoRequest = kAbsent;

// kEntered: ENTER of the call stands in the trace already. (Where that is known while compiling,
// calls from Fortran take less stack.)
template <bool kEntered = false>
KOJAK_INLINED inline void record_send(Recording& call, Comm& comm, std::uint32_t peer,
                                      std::uint32_t tag, std::uint64_t bytes,
                                      std::uint32_t request) {
  if (!call.use(comm)) return;
  if constexpr (!kEntered) call.begin();
  if (request != kNoRequest) call.event_begun(AttrUi4{kAttrRequest, Count{request}});
  const Bytes sent = bytes_field<true>(call, raw(kAttrBytesSent), bytes);
  call.event_begun(MpiSend{call.r.lid, call.enter, static_cast<PeerId>(peer),
                           static_cast<CommId>(comm.id), static_cast<Tag>(tag), sent});
}

// Behind begin(). (Apart: what it takes of the stack lies on no other call's.)
[[gnu::noinline]] inline void attributes_of_receive(Recording& call, std::uint32_t request,
                                                    bool any) {
  if (request != kNoRequest) call.event_begun(AttrUi4{kAttrRequest, Count{request}});
  if (any) call.event_begun(AttrUi1{kAttrAnyness, Byte{1}});
}
// `any`: the call itself receives from any source.
KOJAK_INLINED inline void record_receive(Recording& call, Comm& comm, std::uint32_t peer,
                                         std::uint32_t tag, std::uint64_t bytes,
                                         std::uint32_t request, bool any) {
  if (!call.use(comm)) return;
  call.begin();
  if (request != kNoRequest || any) attributes_of_receive(call, request, any);
  const Bytes received = bytes_field(call, raw(kAttrBytesReceived), bytes);
  call.event(MpiRecv{call.r.lid, call.exit, static_cast<PeerId>(peer), static_cast<CommId>(comm.id),
                     static_cast<Tag>(tag), received});
}

// From whom the message of a status is, absent if from nobody.
inline std::uint32_t source_of(const Comm* comm, const MPI_Status& status) {
  return comm == nullptr || status.MPI_SOURCE < 0 ? kAbsent : comm->peer(status.MPI_SOURCE);
}
// A message arrived. Without `status` nobody knows its size: 0 bytes are recorded.
template <class C>
KOJAK_INLINED inline void received_from(C& call, Comm& comm, std::uint32_t peer, std::uint32_t tag,
                                        const MPI_Status* status, std::uint32_t request,
                                        PostedReceive* posted, bool any = false) {
  count_received(comm, peer, tag, posted);
  if constexpr (C::kOn) {
    MPI_Count bytes = 0;
    if (status != nullptr && mpi::Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS)
      bytes = 0;
    record_receive(call, comm, peer, tag, bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes),
                   request, any);
  }
}
// What the status says of it. Nothing if it was from nobody.
template <class C>
KOJAK_INLINED inline void received(C& call, Comm* comm, const MPI_Status& status,
                                   std::uint32_t request, PostedReceive* posted = nullptr,
                                   bool any = false) {
  const std::uint32_t peer = source_of(comm, status);
  if (peer == kAbsent) return;
  received_from(call, *comm, peer, static_cast<std::uint32_t>(status.MPI_TAG), &status, request,
                posted, any);
}

// A receive that failed has taken its message: that was longer than the buffer.
inline bool was_truncated(int result) {
  return result != kNotSeen && error_class_of(result) == MPI_ERR_TRUNCATE;
}
// Whether the status can be that of a receive with these arguments: one that failed may have left
// what was there before.
inline bool is_answer(const MPI_Status& status, int source, int tag) {
  return (source == MPI_ANY_SOURCE || status.MPI_SOURCE == source) &&
         (tag == MPI_ANY_TAG ? status.MPI_TAG >= 0 : status.MPI_TAG == tag);
}

// The status of a message that was longer than its buffer. MPICH puts no size there that means
// anything, so 0 bytes are recorded.
inline MPI_Status truncated_status(MPI_Status status) {
#if defined(MPICH)
  mpi::Status_set_elements_x(&status, MPI_BYTE, 0);
#endif
  return status;
}

// A send that begins: its peer, absent if there is none.
template <bool kEntered = false, class C>
KOJAK_INLINED inline std::uint32_t sends(C& call, Comm* comm, int dest, int tag, MPI_Count count,
                                         MPI_Datatype type, std::uint32_t request) {
  if (comm == nullptr || dest == MPI_PROC_NULL) return kAbsent;
  const std::uint32_t peer = comm->peer(dest);
  if (peer == kAbsent) return kAbsent;
  count_sent(*comm, peer, static_cast<std::uint32_t>(tag));
  if constexpr (C::kOn) {
    record_send<kEntered>(call, *comm, peer, static_cast<std::uint32_t>(tag),
                          message_bytes(count, type), request);
  }
  return peer;
}

struct SendHook {
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.dest != MPI_PROC_NULL) {
      sends(call, cached_comm(the_recorder, a.comm), a.dest, a.tag, a.count, a.datatype,
            kNoRequest);
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::Send> : SendHook {};
template <>
struct Hook<args::Bsend> : SendHook {};
template <>
struct Hook<args::Ssend> : SendHook {};
template <>
struct Hook<args::Rsend> : SendHook {};

struct IsendHook {
  template <class A, class C>
  KOJAK_INLINED void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.dest != MPI_PROC_NULL) {
      Comm* const comm = cached_comm(the_recorder, a.comm);
      const std::uint32_t id = next_request_id();
      const std::uint32_t peer = sends(call, comm, a.dest, a.tag, a.count, a.datatype, id);
      if (peer != kAbsent) {
        if (Request* request = enter_request(*a.request, RequestKind::kSend)) {
          request->id = id;
          request->peer = peer;
          request->tag = static_cast<std::uint32_t>(a.tag);
        }
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::Isend> : IsendHook {};
template <>
struct Hook<args::Ibsend> : IsendHook {};
template <>
struct Hook<args::Issend> : IsendHook {};
template <>
struct Hook<args::Irsend> : IsendHook {};

// The user's status, or our own where the user ignores it.
struct OwnStatus {
  MPI_Status status;
  template <class A>
  void substitute(A& a) {
    if (a.status == MPI_STATUS_IGNORE) a.status = &status;
  }
};

template <>
struct Hook<args::Recv> : OwnStatus {
  template <class A>
  void before(A& a) {
    substitute(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.source != MPI_PROC_NULL) {
      received(call, cached_comm(the_recorder, a.comm), *a.status, kNoRequest, nullptr,
               a.source == MPI_ANY_SOURCE);
    } else if (result != MPI_SUCCESS) [[unlikely]] {
      call.apart([&](C& c) { on_own_stack([&] { truncated(c, result, a); }); });
    }
    if constexpr (C::kOn) call.leave();
  }
  // A message that is longer than its buffer has been taken all the same.
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] static void truncated(C& call, int result, const A& a) {
    if (!was_truncated(result)) return;
    Comm* const comm = find_comm(a.comm);
    if (comm == nullptr || !is_answer(*a.status, a.source, a.tag)) return;
    received(call, comm, truncated_status(*a.status), kNoRequest);
  }
};

KOJAK_INLINED inline void record_posted(Recording& call, Comm& comm, std::uint32_t id,
                                        std::uint32_t peer, std::uint32_t tag) {
  if (!call.use(comm)) return;
  call.event(MpiRecvRequest{call.r.lid, call.enter, static_cast<RequestId>(id),
                            static_cast<PeerId>(peer), static_cast<CommId>(comm.id),
                            static_cast<Tag>(tag)});
}
inline std::uint32_t posted_peer(const Comm& comm, int source) {
  return source == MPI_ANY_SOURCE ? kAbsent : comm.peer(source);
}
inline std::uint32_t posted_tag(int tag) {
  return tag == MPI_ANY_TAG ? kAbsent : static_cast<std::uint32_t>(tag);
}

inline Request* enter_message(MPI_Request handle, RequestKind kind, Comm* comm) {
  Request* const request = enter_request(handle, kind);
  if (request != nullptr) {
    request->comm = comm;
    keep_comm(comm);
  }
  return request;
}

template <>
struct Hook<args::Irecv> {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.source != MPI_PROC_NULL) {
      Comm* const comm = cached_comm(the_recorder, a.comm);
      if (comm != nullptr) {
        const std::uint32_t id = next_request_id();
        if (Request* request = enter_message(*a.request, RequestKind::kReceive, comm)) {
          request->id = id;
          request->peer = posted_peer(*comm, a.source);
          request->tag = posted_tag(a.tag);
          post(*request);
        }
        if constexpr (C::kOn)
          record_posted(call, *comm, id, posted_peer(*comm, a.source), posted_tag(a.tag));
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};

struct SendrecvHook : OwnStatus {
  static constexpr bool kTellsErrors = true;  // behind the send, which is earlier
  template <class A>
  void before(A& a) {
    substitute(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      Comm* const comm = cached_comm(the_recorder, a.comm);
      send_half(a, comm, call);
      if (a.source != MPI_PROC_NULL) received(call, comm, *a.status, kNoRequest);
    } else {
      call.apart([&](C& c) { on_own_stack([&] { failed(a, result, c); }); });
    }
    if constexpr (C::kOn) call.leave();
  }
  template <class A, class C>
  static void send_half(const A& a, Comm* comm, C& call) {
    if constexpr (requires { a.sendcount; }) {
      sends<true>(call, comm, a.dest, a.sendtag, a.sendcount, a.sendtype, kNoRequest);
    } else {
      sends<true>(call, comm, a.dest, a.sendtag, a.count, a.datatype, kNoRequest);
    }
  }
  // Where the message that came was longer than the buffer, the other one has been sent.
  template <class A, class C>
  [[gnu::cold, gnu::noinline]] static void failed(const A& a, int result, C& call) {
    Comm* const comm = a.source != MPI_PROC_NULL && was_truncated(result) &&
                               is_answer(*a.status, a.source, a.recvtag)
                           ? find_comm(a.comm)
                           : nullptr;
    if (comm != nullptr) send_half(a, comm, call);
    if constexpr (C::kOn) record_failure(call, result);
    if (comm != nullptr) received(call, comm, truncated_status(*a.status), kNoRequest);
  }
};
template <>
struct Hook<args::Sendrecv> : SendrecvHook {};
template <>
struct Hook<args::SendrecvReplace> : SendrecvHook {};

// The two halves of one request: each has a request id of its own, and both complete with it.
struct IsendrecvHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && (a.dest != MPI_PROC_NULL || a.source != MPI_PROC_NULL)) {
      if (Comm* const comm = cached_comm(the_recorder, a.comm)) begin(a, *comm, call);
    }
    if constexpr (C::kOn) call.leave();
  }
  template <class A, class C>
  static void begin(const A& a, Comm& comm, C& call) {
    const std::uint32_t send_id = next_request_id();
    std::uint32_t peer = kAbsent;
    if constexpr (requires { a.sendcount; }) {
      peer = sends(call, &comm, a.dest, a.sendtag, a.sendcount, a.sendtype, send_id);
    } else {
      peer = sends(call, &comm, a.dest, a.sendtag, a.count, a.datatype, send_id);
    }
    if (a.source == MPI_PROC_NULL) {
      Request* const request =
          peer == kAbsent ? nullptr : enter_request(*a.request, RequestKind::kSend);
      if (request != nullptr) request->id = send_id;
      return;
    }
    Request* const request = enter_message(*a.request, RequestKind::kReceive, &comm);
    const std::uint32_t id = next_request_id();
    if (request != nullptr) {
      request->id = id;
      if (peer != kAbsent) request->send_half = send_id;
      request->peer = posted_peer(comm, a.source);
      request->tag = posted_tag(a.recvtag);
      post(*request);
    }
    if constexpr (C::kOn)
      record_posted(call, comm, id, posted_peer(comm, a.source), posted_tag(a.recvtag));
  }
};
template <>
struct Hook<args::Isendrecv> : IsendrecvHook {};
template <>
struct Hook<args::IsendrecvReplace> : IsendrecvHook {};

// Persistent requests: entered inactive; each start is a message of its own.
struct SendInitHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.dest != MPI_PROC_NULL) {
      Comm* const comm = cached_comm(the_recorder, a.comm);
      Request* const request =
          comm == nullptr ? nullptr : enter_message(*a.request, RequestKind::kSend, comm);
      if (request != nullptr) {
        request->persistent = true;
        request->active = false;
        request->peer = comm->peer(a.dest);
        request->tag = static_cast<std::uint32_t>(a.tag);
        request->bytes = message_bytes(a.count, a.datatype);
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::SendInit> : SendInitHook {};
template <>
struct Hook<args::BsendInit> : SendInitHook {};
template <>
struct Hook<args::SsendInit> : SendInitHook {};
template <>
struct Hook<args::RsendInit> : SendInitHook {};

template <>
struct Hook<args::RecvInit> {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS && a.source != MPI_PROC_NULL) {
      Comm* const comm = cached_comm(the_recorder, a.comm);
      Request* const request =
          comm == nullptr ? nullptr : enter_message(*a.request, RequestKind::kReceive, comm);
      if (request != nullptr) {
        request->persistent = true;
        request->active = false;
        request->peer = posted_peer(*comm, a.source);
        request->tag = posted_tag(a.tag);
      }
    }
    if constexpr (C::kOn) call.leave();
  }
};

// A non-blocking collective operation that begins, or a persistent one that is started.
inline void record_begun(Recording& call, Comm& comm, const Request& request) {
  if (!call.use(comm)) return;
  call.event(MpiCollBegin{call.r.lid, call.enter, static_cast<RequestId>(request.id),
                          static_cast<PeerId>(request.peer), static_cast<CommId>(comm.id),
                          Count64{request.key_of_start}, Count64{request.starts},
                          Byte{static_cast<std::uint8_t>(request.op)}, Bytes64{request.bytes},
                          Bytes64{request.received}});
}

}  // namespace kojak::measure
