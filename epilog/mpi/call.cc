#include "epilog/mpi/call.h"

namespace kojak::measure {

int missing_function(const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) say("the MPI library has no function %s; the call fails", name);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace kojak::measure
