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

// Whether the program's call of a function goes on to another library than SHMEM's.
bool goes_to_another_shmem(const char* name);

// The shared library has pshmem_init, pshmem_init_thread and pshmem_finalize, too
// (floor_entries.cc), and there the measurement begins and ends: epilog/mpi/floor.h says why. The
// archive begins when shmem_init has returned.
extern bool shmem_floor_is_there;
void pass_shmem_init();
int pass_shmem_init_thread(int requested, int* provided);
void pass_shmem_finalize(const void* caller);

}  // namespace kojak::measure
