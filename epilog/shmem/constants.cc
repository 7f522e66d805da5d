#include "epilog/shmem/constants.h"

#include "epilog/runtime/session.h"
#include "epilog/runtime/startup.h"
#include "epilog/shmem/chain.h"
#include "epilog/shmem/family.h"

namespace kojak::measure {
namespace {

ShmemFamily family = ShmemFamily::kUnknown;
// Where the handles lie; a library may set them late.
const Context* default_context = nullptr;
const Team *team_of_all = nullptr, *team_of_node = nullptr;

template <class T>
const T* find_handle(const char* name, const char* name_in_open_mpi) {
  const void* const found = shmem_library_variable(name);
  return static_cast<const T*>(found != nullptr ? found : shmem_library_variable(name_in_open_mpi));
}

}  // namespace

void choose_constants(const char* text, const char* file) {
  family = shmem_family(text, file);
  default_context = find_handle<Context>("SHMEM_CTX_DEFAULT", "oshmem_ctx_default");
  team_of_all = find_handle<Team>("SHMEM_TEAM_WORLD", "oshmem_team_world");
  team_of_node = find_handle<Team>("SHMEM_TEAM_SHARED", "oshmem_team_shared");
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

Team world_team() {
  return team_of_all != nullptr ? *team_of_all : nullptr;
}

bool is_shared_team(Team team) {
  return team_of_node != nullptr && *team_of_node == team;
}

}  // namespace kojak::measure
