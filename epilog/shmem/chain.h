// Where the calls of SHMEM go that come to us: epilog/mpi/chain.h for SHMEM.
//
// The library is the file that has pshmem_init, else, where none has it, that of the next
// shmem_init: not every SHMEM library has the profiling interface. Its own function is pshmem_X,
// and where it has none, shmem_X.
//
// Another library may define shmem_X itself and call pshmem_X. A call goes on to the next
// definition of shmem_X behind us, if that is not the SHMEM library's, else to that one's own
// function; what the measurement asks goes to the own function (kojak_pshmem_X in forwards.h). A
// function is looked up at its first call: no SHMEM library makes itself global while it runs.
//
// The shared library has no SHMEM library among its needs, and finds what there is when it runs
// (own_library.cc). The archive is linked into the program with its library (own_archive.cc).
#pragma once

#include <atomic>
#include <cstddef>

#include "epilog/runtime/behind.h"

namespace kojak::measure {

inline constexpr std::size_t kShmemSlots = 2560 - 704;  // functions of the table, recorder.h
extern std::atomic<void*> the_shmem_chain[kShmemSlots];
extern std::atomic<void*> the_shmem_own[kShmemSlots];

// `stub` stands for a function that the library does not have.
[[gnu::cold, gnu::noinline]] void* find_next_shmem(std::size_t slot, const char* name, void* stub);
// The library's own function; null if it has none.
[[gnu::cold, gnu::noinline]] void* find_own_shmem(std::size_t slot, const char* name);

// The rest is for moments that are not hot.
const LoadedFile& shmem_library();
// Also of functions that are not in the table. Behind the floor: shmem_init is the library's.
void* shmem_library_function(const char* name);
// A program has copies of the variables that it uses; those in the library are dead then. Null if
// there is none.
const void* shmem_library_variable(const char* name);

// Of own_library.cc and own_archive.cc.
struct OwnShmem {
  LoadedFile file;
  void* handle = nullptr;  // for dlsym, or null
};
OwnShmem find_shmem_library();
void* find_own_function(const OwnShmem& library, const char* name);
// What stands in the library's place for who calls it: the floor.
void* own_entry(const char* name);

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
