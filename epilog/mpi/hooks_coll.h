// Collective operations: root, and bytes of the send and receive buffers at this process.
//
// Blocking ones end in MPI_COLLEXIT; the table of what counts as sent and received is in
// coll_bytes.h. Non-blocking ones only enter their request, which is recorded when it completes.
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

struct CollectiveHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Comm* const comm = result == MPI_SUCCESS ? cached_comm(the_recorder, a.comm) : nullptr;
    if (comm != nullptr) {
      ++comm->collectives;
      comm->collectives_changed = true;
    }
    if constexpr (C::kOn) {
      if (comm == nullptr || !call.use(*comm)) return call.leave();
      PeerId root = absent<PeerId>();
      if constexpr (requires { a.root; }) root = root_of(*comm, a.root);
      const CollectiveBytes bytes = collective_bytes(a, *comm);
      const auto cid = static_cast<CommId>(comm->id);
      const Bytes sent = bytes_field(call, raw(kAttrBytesSent), bytes.sent);
      const Bytes received = bytes_field(call, raw(kAttrBytesReceived), bytes.received);
      call.leave(MpiCollExit{call.r.lid, call.exit, {}, root, cid, sent, received});
    }
  }
};

template <>
struct Hook<args::Barrier> : CollectiveHook {};
template <>
struct Hook<args::Bcast> : CollectiveHook {};
template <>
struct Hook<args::Scatter> : CollectiveHook {};
template <>
struct Hook<args::Scatterv> : CollectiveHook {};
template <>
struct Hook<args::Gather> : CollectiveHook {};
template <>
struct Hook<args::Gatherv> : CollectiveHook {};
template <>
struct Hook<args::Reduce> : CollectiveHook {};
template <>
struct Hook<args::Allgather> : CollectiveHook {};
template <>
struct Hook<args::Allgatherv> : CollectiveHook {};
template <>
struct Hook<args::Allreduce> : CollectiveHook {};
template <>
struct Hook<args::Alltoall> : CollectiveHook {};
template <>
struct Hook<args::Alltoallv> : CollectiveHook {};
template <>
struct Hook<args::Alltoallw> : CollectiveHook {};
template <>
struct Hook<args::ReduceScatter> : CollectiveHook {};
template <>
struct Hook<args::ReduceScatterBlock> : CollectiveHook {};
template <>
struct Hook<args::Scan> : CollectiveHook {};
template <>
struct Hook<args::Exscan> : CollectiveHook {};
template <>
struct Hook<args::NeighborAllgather> : CollectiveHook {};
template <>
struct Hook<args::NeighborAllgatherv> : CollectiveHook {};
template <>
struct Hook<args::NeighborAlltoall> : CollectiveHook {};
template <>
struct Hook<args::NeighborAlltoallv> : CollectiveHook {};
template <>
struct Hook<args::NeighborAlltoallw> : CollectiveHook {};

struct NonblockingHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if (result == MPI_SUCCESS) {
      if (Request* request = enter_request(*a.request, RequestKind::kCollective))
        request->id = next_request_id();
    }
    if constexpr (C::kOn) call.leave();
  }
};
template <>
struct Hook<args::Ibarrier> : NonblockingHook {};
template <>
struct Hook<args::Ibcast> : NonblockingHook {};
template <>
struct Hook<args::Iscatter> : NonblockingHook {};
template <>
struct Hook<args::Iscatterv> : NonblockingHook {};
template <>
struct Hook<args::Igather> : NonblockingHook {};
template <>
struct Hook<args::Igatherv> : NonblockingHook {};
template <>
struct Hook<args::Ireduce> : NonblockingHook {};
template <>
struct Hook<args::Iallgather> : NonblockingHook {};
template <>
struct Hook<args::Iallgatherv> : NonblockingHook {};
template <>
struct Hook<args::Iallreduce> : NonblockingHook {};
template <>
struct Hook<args::Ialltoall> : NonblockingHook {};
template <>
struct Hook<args::Ialltoallv> : NonblockingHook {};
template <>
struct Hook<args::Ialltoallw> : NonblockingHook {};
template <>
struct Hook<args::IreduceScatter> : NonblockingHook {};
template <>
struct Hook<args::IreduceScatterBlock> : NonblockingHook {};
template <>
struct Hook<args::Iscan> : NonblockingHook {};
template <>
struct Hook<args::Iexscan> : NonblockingHook {};
template <>
struct Hook<args::IneighborAllgather> : NonblockingHook {};
template <>
struct Hook<args::IneighborAllgatherv> : NonblockingHook {};
template <>
struct Hook<args::IneighborAlltoall> : NonblockingHook {};
template <>
struct Hook<args::IneighborAlltoallv> : NonblockingHook {};
template <>
struct Hook<args::IneighborAlltoallw> : NonblockingHook {};

}  // namespace kojak::measure
