#include "epilog/shmem/chain.h"

#include <dlfcn.h>
#include <errno.h>

#include "epilog/runtime/library_code.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

std::atomic<void*> the_shmem_chain[kShmemSlots];
std::atomic<void*> the_shmem_own[kShmemSlots];
bool shmem_floor_is_there = false;

namespace {

// Threads that meet here write the same.
const OwnShmem& the_shmem() {
  static OwnShmem found;
  static std::atomic<bool> is_there{false};
  if (!is_there.load(std::memory_order_acquire)) {
    found = on_own_stack([] { return find_shmem_library(); });
    is_there.store(true, std::memory_order_release);
  }
  return found;
}

// Null if that is the library's own. Where the library has no pshmem_init nobody can stand between.
void* find_another(const char* name) {
  const OwnShmem& library = the_shmem();
  const Behind behind;
  void* const next = behind.find(name);
  const void* const sign = behind.find("pshmem_init");
  return next == nullptr || sign == nullptr || library.file.holds(next) ? nullptr : next;
}

void* find_own(const char* name) {
  void* const entry = own_entry(name);
  return entry != nullptr ? entry : find_own_function(the_shmem(), name);
}

void* find_next(const char* name) {
  void* const next = find_another(name);
  if (next == nullptr) return find_own(name);
  static LoadedFile noted;
  if (!noted.holds(next)) {
    noted = file_of(next);
    note_library_code(next);
  }
  return next;
}

}  // namespace

const LoadedFile& shmem_library() {
  return the_shmem().file;
}

void* shmem_library_function(const char* name) {
  return on_own_stack([name] { return find_own_function(the_shmem(), name); });
}

const void* shmem_library_variable(const char* name) {
  return on_own_stack([name]() -> const void* {
    const void* const found = dlsym(RTLD_DEFAULT, name);
    void* const handle = the_shmem().handle;
    return found != nullptr || handle == nullptr ? found : dlsym(handle, name);
  });
}

bool goes_to_another_shmem(const char* name) {
  return on_own_stack([name] { return find_another(name) != nullptr; });
}

void* find_own_shmem(std::size_t slot, const char* name) {
  const int error = errno;
  void* const own = on_own_stack([name] { return find_own(name); });
  errno = error;
  the_shmem_own[slot].store(own, std::memory_order_release);
  return own;
}

void* find_next_shmem(std::size_t slot, const char* name, void* stub) {
  const int error = errno;
  void* next = on_own_stack([name] { return find_next(name); });
  errno = error;
  if (next == nullptr) next = stub;
  the_shmem_chain[slot].store(next, std::memory_order_release);
  return next;
}

}  // namespace kojak::measure
