#include "epilog/mpi/call.h"

#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

int missing_function(const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    on_own_stack([name] { say("the MPI library has no function %s; the call fails", name); });
  }
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace kojak::measure
