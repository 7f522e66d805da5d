// How OpenMP finds us: it asks each library of the process for a tool when it starts.
//
// Another tool that the user has named goes first, and ELG_OPENMP=0 leaves OpenMP alone.
#include <stdlib.h>
#include <string.h>

#include "epilog/openmp/callbacks.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/config.h"

namespace kojak::measure::openmp {
namespace {

// Whether OMP_TOOL_LIBRARIES, a list with colons between, names a library that is not ours.
bool names_another(const char* libraries) {
  while (*libraries != '\0') {
    const std::size_t length = strcspn(libraries, ":");
    std::size_t name = length;
    while (name != 0 && libraries[name - 1] != '/') --name;
    if (length != 0 && strncmp(libraries + name, "libelg_", strlen("libelg_")) != 0) return true;
    libraries += length;
    if (*libraries == ':') ++libraries;
  }
  return false;
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set == nullptr || !set_callbacks(set)) return 0;
  begin_paths_behind(reinterpret_cast<const void*>(lookup));
  return 1;
}

// The session ends with MPI; threads that OpenMP wakes later find that nothing is recorded.
void finalize(ompt_data_t*) {}

}  // namespace
}  // namespace kojak::measure::openmp

extern "C" __attribute__((visibility("default"), used)) ompt_start_tool_result_t* ompt_start_tool(
    unsigned, const char*) {
  using namespace kojak::measure;
  const char* const libraries = getenv("OMP_TOOL_LIBRARIES");
  if (libraries != nullptr && openmp::names_another(libraries)) return nullptr;
  if (!read_config().openmp) return nullptr;
  static ompt_start_tool_result_t result = {openmp::initialize, openmp::finalize, {}};
  return &result;
}
