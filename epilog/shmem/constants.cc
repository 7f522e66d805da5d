#include "epilog/shmem/constants.h"

#include "epilog/runtime/session.h"
#include "epilog/runtime/startup.h"
#include "epilog/shmem/chain.h"
#include "epilog/shmem/family.h"

namespace kojak::measure {
namespace {

ShmemFamily family = ShmemFamily::kUnknown;
// Where the handle lies; a library may set it late.
const Context* default_context = nullptr;

const void* find_variable(const char* name, const char* name_in_open_mpi) {
  const void* const found = shmem_library_variable(name);
  return found != nullptr ? found : shmem_library_variable(name_in_open_mpi);
}

}  // namespace

void choose_constants(const char* text, const char* file) {
  family = shmem_family(text, file);
  default_context =
      static_cast<const Context*>(find_variable("SHMEM_CTX_DEFAULT", "oshmem_ctx_default"));
  const Session& s = the_session;
  if (family == ShmemFamily::kUnknown && s.config.verbose && s.run.rank == 0) {
    say("%s (%s) is no SHMEM library whose comparisons are known here: those of waits are recorded "
        "as unknown, which no result needs",
        *text != '\0' ? text : "the SHMEM library", file);
  }
}

std::uint8_t recorded_comparison(int cmp) {
  return recorded_comparison(family, cmp);
}

bool is_default_context(Context ctx) {
  return default_context != nullptr && *default_context == ctx;
}

}  // namespace kojak::measure
