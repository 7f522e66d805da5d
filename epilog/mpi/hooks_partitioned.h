// Partitioned messages: MPI_Psend_init and MPI_Precv_init, and their parts.
//
// A start is MPI_PART_BEGIN (hooks_start.h), the completion MPI_PART_END. Between them the sender
// gives parts away (MPI_PART_READY) and the receiver finds that they are there (MPI_PART_ARRIVED).
// Messages of this kind match no others, so they make no MPI_SEND and MPI_RECV.
#pragma once

#include "epilog/mpi/hooks_request.h"

namespace kojak::measure {

// Partitioned messages: made once, started again and again, and ready or arrived part by part. They
// match each other in the order in which they were made, and no other messages.
struct PartitionedInitHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    constexpr bool kSends = requires {
      a.dest;
    };
    int other = MPI_PROC_NULL;
    if constexpr (kSends) {
      other = a.dest;
    } else {
      other = a.source;
    }
    Comm* const comm = result == MPI_SUCCESS && other != MPI_PROC_NULL
                           ? cached_comm(the_recorder, a.comm)
                           : nullptr;
    Request* const request =
        comm == nullptr
            ? nullptr
            : enter_message(
                  *a.request,
                  kSends ? RequestKind::kPartitionedSend : RequestKind::kPartitionedReceive, comm);
    if (request != nullptr) {
      request->persistent = true;
      request->active = false;
      request->peer = comm->peer(other);
      request->tag = static_cast<std::uint32_t>(a.tag);
      request->partitions = static_cast<std::uint32_t>(a.partitions);
      request->bytes = message_bytes(a.count, a.datatype) * request->partitions;
      request->channel = next_channel(*comm, request->peer, request->tag, kSends);
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::PsendInit> : PartitionedInitHook {};
template <>
struct Hook<args::PrecvInit> : PartitionedInitHook {};

inline bool is_partitioned(const Request& request) {
  return request.kind == RequestKind::kPartitionedSend ||
         request.kind == RequestKind::kPartitionedReceive;
}
// A start of a partitioned message, right after ENTER.
inline void record_channel(Recording& call, const Request& request) {
  if (request.peer == kAbsent || !call.use(*request.comm)) return;
  const bool sends = request.kind == RequestKind::kPartitionedSend;
  call.event(MpiPartBegin{
      call.r.lid, call.enter, static_cast<RequestId>(request.id), static_cast<PeerId>(request.peer),
      static_cast<CommId>(request.comm->id), static_cast<Tag>(request.tag),
      Byte{sends ? std::uint8_t{1} : std::uint8_t{2}}, Count{request.partitions},
      Count64{request.channel}, Count64{request.starts}, Bytes64{request.bytes}});
}

// Parts that the sender gives away. Written with the time of the call's beginning.
struct ReadyHook {
  Claimed claimed;

  template <class A>
  void before(const A& a) {
    claimed = claim_one(a.request);
    unclaim_one(claimed);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Request* const request = still(claimed);
    if (result == MPI_SUCCESS && request != nullptr) request->given += parts_of(a);
    if constexpr (C::kOn) {
      if (result == MPI_SUCCESS && request != nullptr && request->peer != kAbsent) {
        if constexpr (requires { a.array_of_partitions; }) {
          for (int i = 0; i < a.length; ++i) {
            if (!call.room(kMaxRecord)) return;
            ready(call, *request, a.array_of_partitions[i], a.array_of_partitions[i]);
          }
        } else if constexpr (requires { a.partition_low; }) {
          ready(call, *request, a.partition_low, a.partition_high);
        } else {
          ready(call, *request, a.partition, a.partition);
        }
      }
      call.leave();
    }
  }
  template <class A>
  static std::uint32_t parts_of(const A& a) {
    if constexpr (requires { a.array_of_partitions; }) {
      return static_cast<std::uint32_t>(a.length);
    } else if constexpr (requires { a.partition_low; }) {
      return static_cast<std::uint32_t>(a.partition_high - a.partition_low + 1);
    } else {
      return 1;
    }
  }
  static void ready(Recording& call, const Request& request, int first, int last) {
    call.event(MpiPartReady{call.r.lid, call.enter, static_cast<RequestId>(request.id),
                            Count{static_cast<std::uint32_t>(first)},
                            Count{static_cast<std::uint32_t>(last)}});
  }
};
template <>
struct Hook<args::Pready> : ReadyHook {};
template <>
struct Hook<args::PreadyRange> : ReadyHook {};
template <>
struct Hook<args::PreadyList> : ReadyHook {};

template <>
struct Hook<args::Parrived> {
  static constexpr bool kPolls = true;
  Claimed claimed;

  void before(const args::Parrived& a) {
    claimed = claim_one(a.request);
    unclaim_one(claimed);
  }
  bool found_nothing(const args::Parrived& a, int result) const {
    const Request* const request = still(claimed);
    return result == MPI_SUCCESS && request != nullptr && request->peer != kAbsent && *a.flag == 0;
  }
  PollMember asked(const args::Parrived& a, RegionId region) const {
    PollMember what = asks_for(still(claimed), region);
    what.place = 1 + static_cast<std::uint64_t>(a.partition);
    return what;
  }
  template <class C>
  void after(const args::Parrived& a, int result, C& call) {
    if constexpr (C::kOn) {
      const Request* const request = still(claimed);
      const bool good = result == MPI_SUCCESS && request != nullptr && request->peer != kAbsent;
      if (good && *a.flag == 0) return leave_polled(call, request, *this, a);
      if (good && request->active) {
        call.event(MpiPartArrived{call.r.lid, call.exit, static_cast<RequestId>(request->id),
                                  Count{static_cast<std::uint32_t>(a.partition)}});
      }
      call.leave();
    }
  }
};

}  // namespace kojak::measure
