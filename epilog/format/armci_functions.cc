// The rows of ARMCI's functions, apart: the measurement library for MPI has these alone.
#include "epilog/format/shmem_functions.h"

namespace kojak {
namespace {

#include "epilog/format/armci_functions.inc"

}  // namespace

std::span<const ShmemFunction> armci_functions() {
  return kFunctions;
}

}  // namespace kojak
