// What kind of work a region is, for those who draw it: the page and the converters for viewers.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>

#include "epilog/format/definitions.h"

namespace kojak::expert {

// The order is that of page/web/src/colour.ts.
enum class RegionKind : std::uint8_t {
  kProgram,
  kPointToPoint,
  kCollective,
  kBarrier,
  kTransfer,
  kFence,
  kWindow,
  kActiveTarget,
  kPassiveTarget,
  kIo,
  kInitExit,
  kManagement,
  kMeasurement,
};

// Functions of SHMEM and its kin are of the kind of those of MPI that do the same.
RegionKind kind_of(const RegionDef& region);

}  // namespace kojak::expert
