#include "epilog/format/shmem_functions.h"

#include <algorithm>

#include "epilog/format/upc_functions.h"

namespace kojak {
namespace {

#include "epilog/format/shmem_functions.inc"

}  // namespace

std::span<const ShmemFunction> shmem_functions() {
  return kFunctions;
}
std::span<const ShmemFunction> upc_functions() {
  return kUpcFunctions;
}

static std::span<const ShmemFunction> functions_like(std::string_view name) {
  if (name.starts_with("upc_")) return upc_functions();
  const bool armci = name.starts_with("ARMCI_") || name.starts_with("armci_");
  return armci ? armci_functions() : shmem_functions();
}

const ShmemFunction* find_shmem_function(std::string_view name) {
  const auto all = functions_like(name);
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const ShmemFunction& f, std::string_view wanted) { return f.name < wanted; });
  return found == all.end() || found->name != name ? nullptr : &*found;
}

}  // namespace kojak
