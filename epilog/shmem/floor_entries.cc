// pshmem_init, pshmem_init_thread and pshmem_finalize as the shared library has them (chain.h).
#include "epilog/shmem/floor_entries.h"

#include "epilog/shmem/chain.h"

namespace kojak::measure {
namespace {

[[gnu::constructor]] void note_floor() {
  shmem_floor_is_there = true;
}

}  // namespace
}  // namespace kojak::measure

void kojak_floor_shmem_init() {
  kojak::measure::pass_shmem_init();
}

int kojak_floor_shmem_init_thread(int requested, int* provided) {
  return kojak::measure::pass_shmem_init_thread(requested, provided);
}

void kojak_floor_shmem_finalize() {
  kojak::measure::pass_shmem_finalize(__builtin_return_address(0));
}
