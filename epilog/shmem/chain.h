// Where the calls of SHMEM go that come to us: epilog/mpi/chain.h for SHMEM.
//
// Another library may define shmem_X itself and call pshmem_X. A call goes on to the next
// definition of shmem_X behind us, if that is not the SHMEM library's, else to that one's pshmem_X.
// What the measurement asks goes to pshmem_X (kojak_pshmem_X in forwards.h). A function is looked
// up at its first call: no SHMEM library makes itself global while it runs.
#pragma once

#include <atomic>
#include <cstddef>

namespace kojak::measure {

inline constexpr std::size_t kShmemSlots = 2560 - 704;  // functions of the table, recorder.h
extern std::atomic<void*> the_shmem_chain[kShmemSlots];

// `own` calls the library's own function.
[[gnu::cold, gnu::noinline]] void* find_next_shmem(std::size_t slot, const char* name, void* own);

}  // namespace kojak::measure
