// The SHMEM library as the linker found it: in the archive, which is linked into the program. Which
// version of OpenSHMEM the library has, and whether it has a profiling interface, is not known.
#include <string.h>

#include "epilog/shmem/chain.h"

#define KOJAK_OWN(name) extern "C" [[gnu::weak]] void kojak_own_##name() __asm__("p" #name);
#include "epilog/shmem/own.inc"
#undef KOJAK_OWN

namespace kojak::measure {
namespace {

struct Row {
  const char* name;
  void (*own)();
};
constexpr Row kRows[] = {
#define KOJAK_OWN(name) {#name, kojak_own_##name},
#include "epilog/shmem/own.inc"
#undef KOJAK_OWN
};

}  // namespace

OwnShmem find_shmem_library() {
  OwnShmem library;
  const Behind behind;
  const void* sign = behind.find("pshmem_init");
  if (sign == nullptr) sign = behind.find("shmem_init");
  if (sign == nullptr) sign = reinterpret_cast<const void*>(kojak_own_shmem_init);
  if (sign != nullptr) library.file = file_of(sign);
  return library;
}

void* find_own_function(const OwnShmem&, const char* name) {
  for (const Row& row : kRows) {
    if (strcmp(row.name, name) == 0 && row.own != nullptr) return reinterpret_cast<void*>(row.own);
  }
  return Behind().find(name);
}

void* own_entry(const char*) {
  return nullptr;
}

}  // namespace kojak::measure
