// pshmem_init, pshmem_init_thread and pshmem_finalize as the shared library has them (chain.h).
#include "epilog/shmem/chain.h"

namespace kojak::measure {
namespace {

[[gnu::constructor]] void note_floor() {
  shmem_floor_is_there = true;
}

}  // namespace
}  // namespace kojak::measure

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))

KOJAK_WRAPPER void kojak_floor_shmem_init() __asm__("pshmem_init");
void kojak_floor_shmem_init() {
  kojak::measure::pass_shmem_init();
}

KOJAK_WRAPPER int kojak_floor_shmem_init_thread(int requested,
                                                int* provided) __asm__("pshmem_init_thread");
int kojak_floor_shmem_init_thread(int requested, int* provided) {
  return kojak::measure::pass_shmem_init_thread(requested, provided);
}

KOJAK_WRAPPER void kojak_floor_shmem_finalize() __asm__("pshmem_finalize");
void kojak_floor_shmem_finalize() {
  kojak::measure::pass_shmem_finalize(__builtin_return_address(0));
}
