// Collective operations by number, as MPI_COLL_BEGIN names them, and their blocking forms.
//
// A non-blocking or persistent operation is judged as its blocking form is. Constant data;
// thread-safe; an unknown number gives nullptr.
#pragma once

#include <array>
#include <cstdint>

#include "epilog/format/mpi_functions.h"

namespace kojak {

enum class CollectiveOp : std::uint8_t {
  kNone,
  kBarrier,
  kBcast,
  kScatter,
  kScatterv,
  kGather,
  kGatherv,
  kReduce,
  kAllgather,
  kAllgatherv,
  kAllreduce,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
};

// In the order of the numbers.
inline constexpr std::array<std::string_view, 23> kBlockingForms{
    "",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Reduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Neighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
};

inline const MpiFunction* blocking_form(std::uint8_t op) {
  static const auto forms = [] {
    std::array<const MpiFunction*, kBlockingForms.size()> all{};
    for (std::size_t i = 1; i < all.size(); ++i) all[i] = find_mpi_function(kBlockingForms[i]);
    return all;
  }();
  return op < forms.size() ? forms[op] : nullptr;
}

}  // namespace kojak
