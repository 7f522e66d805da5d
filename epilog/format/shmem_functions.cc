#include "epilog/format/shmem_functions.h"

#include <algorithm>

namespace kojak {
namespace {

#include "epilog/format/shmem_functions.inc"

}  // namespace

std::span<const ShmemFunction> shmem_functions() {
  return kFunctions;
}

const ShmemFunction* find_shmem_function(std::string_view name) {
  const bool armci = name.starts_with("ARMCI_") || name.starts_with("armci_");
  const auto all = armci ? armci_functions() : shmem_functions();
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const ShmemFunction& f, std::string_view wanted) { return f.name < wanted; });
  return found == all.end() || found->name != name ? nullptr : &*found;
}

}  // namespace kojak
