// Which MPI functions are atomic operations, in OTF2's words. Pure function; any thread.
#pragma once

#include <otf2/otf2.h>

#include <optional>

#include "epilog/format/mpi_functions.h"

namespace kojak::otf2 {

// Empty: no atomic operation. One that only accumulates brings nothing back.
inline std::optional<OTF2_RmaAtomicType> atomic_type(const MpiFunction& function) {
  const std::string_view name = function.name;
  if (name == "MPI_Compare_and_swap") return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
  if (function.role == MpiRole::kGetAccumulate || name.starts_with("MPI_Rget_accumulate")) {
    return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
  }
  if (function.role == MpiRole::kAccumulate || name.starts_with("MPI_Raccumulate")) {
    return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
  }
  return std::nullopt;
}

}  // namespace kojak::otf2
