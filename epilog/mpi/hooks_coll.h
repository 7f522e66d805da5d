// Collective operations: root, and bytes of the send and receive buffers at this process.
//
// Blocking ones end in MPI_COLLEXIT; the table of what counts as sent and received is in
// coll_bytes.h. Non-blocking and persistent ones are recorded where they begin, and again where
// their request is found complete.
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/coll_bytes.h"
#include "epilog/mpi/hooks_p2p.h"

namespace kojak::measure {

// World rank of the root; absent where there is none, or where this process takes no part.
inline PeerId root_of(const Comm& comm, int root) {
  if (root == MPI_PROC_NULL) return absent<PeerId>();
  if (root == MPI_ROOT) return static_cast<PeerId>(the_session.run.rank);
  return static_cast<PeerId>(comm.peer(root));
}

// Which operation a function is, in all its forms; large counts are those of the int form.
template <unsigned kFunction>
inline constexpr CollectiveOp kOperation = CollectiveOp::kNone;

template <class A>
CollectiveBytes bytes_of(const A& a, const Comm& comm) {
  return collective_bytes(Form<kOperation<A::kBase>>{}, a, comm);
}

// The communicator that a collective call counts on; null if it failed, or its count is lost.
template <class A, class C>
KOJAK_INLINED inline Comm* counted_comm(const A& a, int result, C& call) {
  if (result != MPI_SUCCESS) [[unlikely]] {
    call.apart([&](C& c) { failed_collective(find_comm(a.comm), result, c); });
    return nullptr;
  }
  Comm* const comm = cached_comm(the_recorder, a.comm);
  return comm == nullptr || comm->count_lost ? nullptr : comm;
}

struct CollectiveHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Comm* const comm = counted_comm(a, result, call);
    if (comm != nullptr) {
      ++comm->collectives;
      comm->collectives_changed = true;
    }
    if constexpr (C::kOn) {
      if (comm == nullptr || !call.use(*comm)) return call.leave();
      PeerId root = absent<PeerId>();
      if constexpr (requires { a.root; }) root = root_of(*comm, a.root);
      const CollectiveBytes bytes = bytes_of(a, *comm);
      const auto cid = static_cast<CommId>(comm->id);
      const Bytes sent = bytes_field(call, raw(kAttrBytesSent), bytes.sent);
      const Bytes received = bytes_field(call, raw(kAttrBytesReceived), bytes.received);
      call.leave(MpiCollExit{call.r.lid, call.exit, {}, root, cid, sent, received});
    }
  }
};

// The request of a call that begins an operation, or makes a persistent one, with all that its
// records will say. Every such call counts on its communicator, whatever becomes of the request.
template <class A>
Request* enter_collective(const A& a, Comm& comm) {
  const std::uint64_t number = comm.begun++;
  Request* const request = enter_message(*a.request, RequestKind::kCollective, &comm);
  if (request == nullptr) return nullptr;
  request->starts = number;
  request->op = kOperation<A::kBase>;
  if constexpr (requires { a.root; }) request->peer = raw(root_of(comm, a.root));
  const CollectiveBytes bytes = bytes_of(a, comm);
  request->bytes = bytes.sent;
  request->received = bytes.received;
  return request;
}

struct NonblockingHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Comm* const comm = counted_comm(a, result, call);
    Request* const request = comm == nullptr ? nullptr : enter_collective(a, *comm);
    if (request != nullptr) {
      request->id = next_request_id();
      if constexpr (C::kOn) record_begun(call, *comm, *request);
    }
    if constexpr (C::kOn) call.leave();
  }
};

// MPI_Barrier_init and its like: the request is entered inactive, and each start is an operation of
// its own. Processes may start several in different orders, so starts are counted by request.
struct PersistentCollectiveHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Comm* const comm = counted_comm(a, result, call);
    Request* const request = comm == nullptr ? nullptr : enter_collective(a, *comm);
    if (request != nullptr) {
      request->persistent = true;
      request->active = false;
      request->key_of_start = request->starts + 1;
      request->starts = 0;
    }
    if constexpr (C::kOn) call.leave();
  }
};

// An operation and its blocking and non-blocking calls.
#define KOJAK_COLLECTIVE(Name, Begun)                                                       \
  template <>                                                                               \
  inline constexpr CollectiveOp kOperation<args::Name::kFunction> = CollectiveOp::k##Name;  \
  template <>                                                                               \
  inline constexpr CollectiveOp kOperation<args::Begun::kFunction> = CollectiveOp::k##Name; \
  template <>                                                                               \
  struct Hook<args::Name> : CollectiveHook {};                                              \
  template <>                                                                               \
  struct Hook<args::Begun> : NonblockingHook {};
// A persistent operation: the call that makes it.
#define KOJAK_PERSISTENT(Name, Init)                                                       \
  template <>                                                                              \
  inline constexpr CollectiveOp kOperation<args::Init::kFunction> = CollectiveOp::k##Name; \
  template <>                                                                              \
  struct Hook<args::Init> : PersistentCollectiveHook {};

KOJAK_COLLECTIVE(Barrier, Ibarrier)
KOJAK_COLLECTIVE(Bcast, Ibcast)
KOJAK_COLLECTIVE(Scatter, Iscatter)
KOJAK_COLLECTIVE(Scatterv, Iscatterv)
KOJAK_COLLECTIVE(Gather, Igather)
KOJAK_COLLECTIVE(Gatherv, Igatherv)
KOJAK_COLLECTIVE(Reduce, Ireduce)
KOJAK_COLLECTIVE(Allgather, Iallgather)
KOJAK_COLLECTIVE(Allgatherv, Iallgatherv)
KOJAK_COLLECTIVE(Allreduce, Iallreduce)
KOJAK_COLLECTIVE(Alltoall, Ialltoall)
KOJAK_COLLECTIVE(Alltoallv, Ialltoallv)
KOJAK_COLLECTIVE(Alltoallw, Ialltoallw)
KOJAK_COLLECTIVE(ReduceScatter, IreduceScatter)
KOJAK_COLLECTIVE(ReduceScatterBlock, IreduceScatterBlock)
KOJAK_COLLECTIVE(Scan, Iscan)
KOJAK_COLLECTIVE(Exscan, Iexscan)
KOJAK_COLLECTIVE(NeighborAllgather, IneighborAllgather)
KOJAK_COLLECTIVE(NeighborAllgatherv, IneighborAllgatherv)
KOJAK_COLLECTIVE(NeighborAlltoall, IneighborAlltoall)
KOJAK_COLLECTIVE(NeighborAlltoallv, IneighborAlltoallv)
KOJAK_COLLECTIVE(NeighborAlltoallw, IneighborAlltoallw)
#undef KOJAK_COLLECTIVE
KOJAK_PERSISTENT(Barrier, BarrierInit)
KOJAK_PERSISTENT(Bcast, BcastInit)
KOJAK_PERSISTENT(Scatter, ScatterInit)
KOJAK_PERSISTENT(Scatterv, ScattervInit)
KOJAK_PERSISTENT(Gather, GatherInit)
KOJAK_PERSISTENT(Gatherv, GathervInit)
KOJAK_PERSISTENT(Reduce, ReduceInit)
KOJAK_PERSISTENT(Allgather, AllgatherInit)
KOJAK_PERSISTENT(Allgatherv, AllgathervInit)
KOJAK_PERSISTENT(Allreduce, AllreduceInit)
KOJAK_PERSISTENT(Alltoall, AlltoallInit)
KOJAK_PERSISTENT(Alltoallv, AlltoallvInit)
KOJAK_PERSISTENT(Alltoallw, AlltoallwInit)
KOJAK_PERSISTENT(ReduceScatter, ReduceScatterInit)
KOJAK_PERSISTENT(ReduceScatterBlock, ReduceScatterBlockInit)
KOJAK_PERSISTENT(Scan, ScanInit)
KOJAK_PERSISTENT(Exscan, ExscanInit)
KOJAK_PERSISTENT(NeighborAllgather, NeighborAllgatherInit)
KOJAK_PERSISTENT(NeighborAllgatherv, NeighborAllgathervInit)
KOJAK_PERSISTENT(NeighborAlltoall, NeighborAlltoallInit)
KOJAK_PERSISTENT(NeighborAlltoallv, NeighborAlltoallvInit)
KOJAK_PERSISTENT(NeighborAlltoallw, NeighborAlltoallwInit)
#undef KOJAK_PERSISTENT

}  // namespace kojak::measure
