// The SHMEM library as the dynamic linker knows it: in the shared library.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "epilog/shmem/chain.h"
#include "epilog/shmem/floor_entries.h"

namespace kojak::measure {
namespace {

// A program may have loaded its library for itself alone (Python).
const void* find_sign(const char* name) {
  Behind behind;
  const void* const found = behind.find(name);
  if (found != nullptr) return found;
  behind.look_through_files(name);
  return behind.find(name);
}

void* find_named(const OwnShmem& library, const char* name) {
  void* const found = library.handle == nullptr ? nullptr : dlsym(library.handle, name);
  if (found != nullptr && !is_in_our_file(found)) return found;
  return Behind().find(name);
}

}  // namespace

OwnShmem find_shmem_library() {
  OwnShmem library;
  const void* sign = find_sign("pshmem_init");
  if (sign == nullptr) sign = find_sign("shmem_init");
  if (sign == nullptr) return library;
  library.file = file_of(sign);
  const char* const path = library.file.path;
  const bool program = path == nullptr || *path == '\0';
  // It stays, or the table would lead to nowhere where a program closes it.
  library.handle = dlopen(program ? nullptr : path, RTLD_LAZY | RTLD_NOLOAD);
  return library;
}

void* find_own_function(const OwnShmem& library, const char* name) {
  char profiling[128];
  snprintf(profiling, sizeof profiling, "p%s", name);
  void* const found = find_named(library, profiling);
  return found != nullptr ? found : find_named(library, name);
}

void* own_entry(const char* name) {
  if (strcmp(name, "shmem_init") == 0) return reinterpret_cast<void*>(kojak_floor_shmem_init);
  if (strcmp(name, "shmem_init_thread") == 0)
    return reinterpret_cast<void*>(kojak_floor_shmem_init_thread);
  if (strcmp(name, "shmem_finalize") == 0)
    return reinterpret_cast<void*>(kojak_floor_shmem_finalize);
  return nullptr;
}

}  // namespace kojak::measure
