#include "epilog/shmem/chain.h"

#include <errno.h>

#include "epilog/runtime/behind.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/shmem/forwards.h"

namespace kojak::measure {

std::atomic<void*> the_shmem_chain[kShmemSlots];
bool shmem_floor_is_there = false;

namespace {

// Null if that is the library's own.
void* find_another(const char* name) {
  const Behind behind;
  void* const next = behind.find(name);
  const void* const sign = behind.find("pshmem_init");
  // Where there is no pshmem_init, the library is that of the next shmem_init, and nobody can stand
  // between.
  const bool own = next == nullptr || sign == nullptr || file_of(sign).holds(next);
  return own ? nullptr : next;
}

void* find(const char* name, void* own) {
  void* const next = find_another(name);
  if (next == nullptr) return own;
  static LoadedFile noted;
  if (!noted.holds(next)) {
    noted = file_of(next);
    note_library_code(next);
  }
  return next;
}

}  // namespace

bool goes_to_another_shmem(const char* name) {
  return on_own_stack([name] { return find_another(name) != nullptr; });
}

void* find_next_shmem(std::size_t slot, const char* name, void* own) {
  const int error = errno;
  void* const next = on_own_stack([&] { return find(name, own); });
  errno = error;
  the_shmem_chain[slot].store(next, std::memory_order_release);
  return next;
}

}  // namespace kojak::measure
