// Bytes that a process gives to and takes from a collective operation.
//
// They are the bytes of the buffers as MPI defines them for this process, its own part included;
// with MPI_IN_PLACE the own part, which does not move, is left out. Only arguments that are
// significant at this process are looked at. b = count x type size, n = members (of an
// intercommunicator: remote members), s and r = one block of the send and of the receive buffer.
//
//   operation                sent                          received
//   Barrier                  0                             0
//   Bcast                    root b                        others b
//   Scatter(v)               root: all blocks              r; root in place 0 (and sends no own
//   block) Gather(v)                s; root in place 0            root: all blocks (in place:
//   without its own) Reduce                   b                             root b Allgather(v) s
//   (in place: own block)       all blocks (in place: without its own) Allreduce                b b
//   Alltoall(v,w)            all blocks                    all blocks (in place, both: without its
//   own) Reduce_scatter(_block)   all blocks                    own block Scan b b Exscan b b; rank
//   0 0 Neighbor_allgather(v)    s                             a block for each source
//   Neighbor_alltoall(v,w)   a block for each destination  a block for each source
// On an intercommunicator the rooted operations move bytes from the root to the remote group or
// back; the other members of the root's group take part with none.
#pragma once

#include <algorithm>
#include <type_traits>

#include "epilog/format/collective_operations.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/comm.h"
#include "epilog/mpi/hooks_p2p.h"

namespace kojak::measure {

struct CollectiveBytes {
  std::uint64_t sent = 0, received = 0;
};

// How a process takes part in a rooted operation.
struct RootedPart {
  bool root = false;   // it is the root
  bool other = false;  // it exchanges data with the root (itself included, within one group)
};
inline RootedPart rooted_part(const Comm& comm, int root) {
  if (comm.remote != nullptr) return {root == MPI_ROOT, root != MPI_ROOT && root != MPI_PROC_NULL};
  return {static_cast<std::uint32_t>(root) == comm.my_rank, true};
}
inline std::uint32_t members(const Comm& comm) {
  return (comm.remote != nullptr ? comm.remote : comm.group)->count;
}

inline std::uint64_t size_of(MPI_Datatype type) {
  return message_bytes(1, type);
}
// Counts are int, or MPI_Count in the forms with large counts.
template <class Counts>
std::uint64_t sum(const Counts* counts, std::uint32_t n) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < n; ++i) total += static_cast<std::uint64_t>(counts[i]);
  return total;
}
template <class Counts>
std::uint64_t sum(const Counts* counts, const MPI_Datatype* types, std::uint32_t n) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < n; ++i) total += message_bytes(counts[i], types[i]);
  return total;
}

// How many blocks a process's arguments have for its neighbours, those beyond an open border, which
// move nothing, included.
struct Neighbors {
  std::uint32_t sources = 0, destinations = 0;
};
Neighbors neighbors_of(MPI_Comm comm);

// The overloads below take the arguments of all forms of an operation: blocking, non-blocking and
// persistent.
template <CollectiveOp kOp>
using Form = std::integral_constant<CollectiveOp, kOp>;

// A block for each neighbour, none for what lies beyond an open border.
inline std::uint64_t blocks(const Group* neighbours) {
  if (neighbours == nullptr) return 0;
  return static_cast<std::uint64_t>(
      std::count_if(neighbours->ranks, neighbours->ranks + neighbours->count,
                    [](std::uint32_t rank) { return rank != kAbsent; }));
}
template <class Counts>
std::uint64_t sum_near(const Counts* counts, const Group* neighbours) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; neighbours != nullptr && i < neighbours->count; ++i) {
    if (neighbours->ranks[i] != kAbsent) total += static_cast<std::uint64_t>(counts[i]);
  }
  return total;
}
template <class Counts>
std::uint64_t sum_near(const Counts* counts, const MPI_Datatype* types, const Group* neighbours) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; neighbours != nullptr && i < neighbours->count; ++i) {
    if (neighbours->ranks[i] != kAbsent) total += message_bytes(counts[i], types[i]);
  }
  return total;
}

template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kBarrier>, const A&, const Comm&) {
  return {};
}

template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kBcast>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  if (!part.root && !part.other) return {};
  const std::uint64_t bytes = message_bytes(a.count, a.datatype);
  return part.root ? CollectiveBytes{bytes, 0} : CollectiveBytes{0, bytes};
}

// The root's own block, where it is one of those that the root holds.
inline std::uint32_t own_blocks(const Comm& comm) {
  return comm.remote != nullptr ? 0 : 1;
}

template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kScatter>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  CollectiveBytes bytes;
  const bool in_place = part.root && a.recvbuf == MPI_IN_PLACE;
  if (part.root) {
    bytes.sent = message_bytes(a.sendcount, a.sendtype) *
                 (members(comm) - (in_place ? own_blocks(comm) : 0));
  }
  if (part.other && !in_place) bytes.received = message_bytes(a.recvcount, a.recvtype);
  return bytes;
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kScatterv>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  CollectiveBytes bytes;
  const bool in_place = part.root && a.recvbuf == MPI_IN_PLACE;
  if (part.root) {
    const std::uint64_t own =
        in_place && own_blocks(comm) != 0 ? sum(a.sendcounts + comm.my_rank, 1) : 0;
    bytes.sent = (sum(a.sendcounts, members(comm)) - own) * size_of(a.sendtype);
  }
  if (part.other && !in_place) bytes.received = message_bytes(a.recvcount, a.recvtype);
  return bytes;
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kGather>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  CollectiveBytes bytes;
  const bool in_place = part.root && a.sendbuf == MPI_IN_PLACE;
  if (part.other && !in_place) bytes.sent = message_bytes(a.sendcount, a.sendtype);
  if (part.root) {
    bytes.received = message_bytes(a.recvcount, a.recvtype) *
                     (members(comm) - (in_place ? own_blocks(comm) : 0));
  }
  return bytes;
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kGatherv>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  CollectiveBytes bytes;
  const bool in_place = part.root && a.sendbuf == MPI_IN_PLACE;
  if (part.other && !in_place) bytes.sent = message_bytes(a.sendcount, a.sendtype);
  if (part.root) {
    const std::uint64_t own =
        in_place && own_blocks(comm) != 0 ? sum(a.recvcounts + comm.my_rank, 1) : 0;
    bytes.received = (sum(a.recvcounts, members(comm)) - own) * size_of(a.recvtype);
  }
  return bytes;
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kReduce>, const A& a, const Comm& comm) {
  const RootedPart part = rooted_part(comm, a.root);
  if (!part.root && !part.other) return {};
  const std::uint64_t bytes = message_bytes(a.count, a.datatype);
  return {part.other ? bytes : 0, part.root ? bytes : 0};
}

template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAllgather>, const A& a, const Comm& comm) {
  const std::uint64_t block = message_bytes(a.recvcount, a.recvtype);
  if (a.sendbuf == MPI_IN_PLACE) return {block, block * (members(comm) - own_blocks(comm))};
  return {message_bytes(a.sendcount, a.sendtype), block * members(comm)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAllgatherv>, const A& a, const Comm& comm) {
  const std::uint64_t size = size_of(a.recvtype);
  const std::uint64_t all = sum(a.recvcounts, members(comm)) * size;
  if (a.sendbuf != MPI_IN_PLACE) return {message_bytes(a.sendcount, a.sendtype), all};
  const std::uint64_t own = sum(a.recvcounts + comm.my_rank, 1) * size;
  return {own, all - own};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAllreduce>, const A& a, const Comm&) {
  const std::uint64_t bytes = message_bytes(a.count, a.datatype);
  return {bytes, bytes};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAlltoall>, const A& a, const Comm& comm) {
  const std::uint64_t received = message_bytes(a.recvcount, a.recvtype);
  if (a.sendbuf == MPI_IN_PLACE) {
    const std::uint64_t moved = received * (members(comm) - own_blocks(comm));
    return {moved, moved};
  }
  return {message_bytes(a.sendcount, a.sendtype) * members(comm), received * members(comm)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAlltoallv>, const A& a, const Comm& comm) {
  const std::uint32_t n = members(comm);
  const std::uint64_t size = size_of(a.recvtype);
  const std::uint64_t received = sum(a.recvcounts, n) * size;
  if (a.sendbuf != MPI_IN_PLACE) return {sum(a.sendcounts, n) * size_of(a.sendtype), received};
  const std::uint64_t moved = received - sum(a.recvcounts + comm.my_rank, 1) * size;
  return {moved, moved};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kAlltoallw>, const A& a, const Comm& comm) {
  const std::uint32_t n = members(comm);
  const std::uint64_t received = sum(a.recvcounts, a.recvtypes, n);
  if (a.sendbuf != MPI_IN_PLACE) return {sum(a.sendcounts, a.sendtypes, n), received};
  const std::uint64_t moved =
      received - sum(a.recvcounts + comm.my_rank, a.recvtypes + comm.my_rank, 1);
  return {moved, moved};
}
// recvcounts are of the local group, on an intercommunicator too.
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kReduceScatter>, const A& a, const Comm& comm) {
  const std::uint64_t size = size_of(a.datatype);
  return {sum(a.recvcounts, comm.group->count) * size, sum(a.recvcounts + comm.my_rank, 1) * size};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kReduceScatterBlock>, const A& a,
                                 const Comm& comm) {
  const std::uint64_t block = message_bytes(a.recvcount, a.datatype);
  return {block * comm.group->count, block};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kScan>, const A& a, const Comm&) {
  const std::uint64_t bytes = message_bytes(a.count, a.datatype);
  return {bytes, bytes};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kExscan>, const A& a, const Comm& comm) {
  const std::uint64_t bytes = message_bytes(a.count, a.datatype);
  return {bytes, comm.my_rank == 0 ? 0 : bytes};
}

template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kNeighborAllgather>, const A& a,
                                 const Comm& comm) {
  return {message_bytes(a.sendcount, a.sendtype),
          message_bytes(a.recvcount, a.recvtype) * blocks(comm.sources)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kNeighborAllgatherv>, const A& a,
                                 const Comm& comm) {
  return {message_bytes(a.sendcount, a.sendtype),
          sum_near(a.recvcounts, comm.sources) * size_of(a.recvtype)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kNeighborAlltoall>, const A& a,
                                 const Comm& comm) {
  return {message_bytes(a.sendcount, a.sendtype) * blocks(comm.destinations),
          message_bytes(a.recvcount, a.recvtype) * blocks(comm.sources)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kNeighborAlltoallv>, const A& a,
                                 const Comm& comm) {
  return {sum_near(a.sendcounts, comm.destinations) * size_of(a.sendtype),
          sum_near(a.recvcounts, comm.sources) * size_of(a.recvtype)};
}
template <class A>
CollectiveBytes collective_bytes(Form<CollectiveOp::kNeighborAlltoallw>, const A& a,
                                 const Comm& comm) {
  return {sum_near(a.sendcounts, a.sendtypes, comm.destinations),
          sum_near(a.recvcounts, a.recvtypes, comm.sources)};
}

}  // namespace kojak::measure
