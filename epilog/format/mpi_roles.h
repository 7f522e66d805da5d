// Which calls a role stands for, where several readers ask. Pure functions; any thread.
#pragma once

#include "epilog/format/mpi_functions.h"

namespace kojak {

// MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome: they end when requests are complete.
constexpr bool is_wait(MpiRole role) {
  return role >= MpiRole::kWait && role <= MpiRole::kWaitsome;
}
// MPI_Waitany and MPI_Waitsome: the first complete request ends them; the last one ends the others.
constexpr bool first_one_ends(MpiRole role) {
  return role == MpiRole::kWaitany || role == MpiRole::kWaitsome;
}
// The collective operations on a communicator that end when their members have come.
constexpr bool is_blocking_collective(MpiRole role) {
  return role >= MpiRole::kBarrier && role <= MpiRole::kNeighbor;
}

}  // namespace kojak
