#include "expert/patterns/rma/passive/async_progress.h"

#include <algorithm>
#include <cctype>

namespace kojak::expert {
namespace {

enum class Library : std::uint8_t { kMpich, kIntel, kMvapich, kAny };

struct Variable {
  const char* name;
  Library library;
};
// Open MPI has threads for single transports only, which say nothing of the others: no evidence.
constexpr Variable kVariables[] = {
    {"MPICH_ASYNC_PROGRESS", Library::kMpich},
    {"MPIR_CVAR_ASYNC_PROGRESS", Library::kMpich},
    {"MPIR_PARAM_ASYNC_PROGRESS", Library::kMpich},
    {"MPICH_NEMESIS_ASYNC_PROGRESS", Library::kMpich},
    {"I_MPI_ASYNC_PROGRESS", Library::kIntel},
    {"MV2_ASYNC_PROGRESS", Library::kMvapich},
    {"MV2_OPTIMIZED_ASYNC_PROGRESS", Library::kMvapich},
    {"MVP_ASYNC_PROGRESS", Library::kMvapich},
    {"CSP_NG", Library::kAny},
};

bool reads(const std::string* library, Library wanted) {
  if (library == nullptr || wanted == Library::kAny) return true;
  const auto has = [&](const char* name) { return library->find(name) != std::string::npos; };
  switch (wanted) {
    case Library::kIntel:
      return has("Intel");
    case Library::kMvapich:
      return has("MVAPICH");
    default:  // MPICH, and what is made from it
      return !has("Open MPI");
  }
}

bool is_on(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* off : {"", "0", "no", "n", "off", "false", "disable", "disabled"}) {
    if (value == off) return false;
  }
  return true;
}

}  // namespace

std::string AsyncProgress::variable(ProcessId process) const {
  const std::string* library = properties_.find(run_property::kMpiLibrary, process);
  for (const Variable& v : kVariables) {
    const std::string* value =
        properties_.find(std::string(run_property::kEnvironment) + v.name, process);
    if (value == nullptr || !reads(library, v.library) || !is_on(*value)) continue;
    return std::string(v.name) + '=' + *value;
  }
  return {};
}

}  // namespace kojak::expert
