// Where a variable lies in symmetric memory: an offset that is equal at all processes
// (docs/format.md).
//
// The heap counts from what the library gives out first; the data of the program from where it was
// loaded (bit 62), those of a shared library from where that was (bit 61, and a hash of its name in
// bits 40 to 55). What is heap is known from the allocations. Any thread; nothing fails: an address
// elsewhere is kUnknownPlace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epilog/format/record/types.h"

namespace kojak::measure {

inline constexpr std::uint64_t kUnknownPlace = ~std::uint64_t{0};

// `first` is what the library gave to all processes first.
void start_places(const void* first);
void note_allocation(const void* block, std::size_t bytes);
std::uint64_t place_of(const volatile void* address);
// The number of a lock at that place.
LockId lock_of(const volatile void* address);
// Whether it is a variable of the program or a library.
inline bool is_variable(LockId lock) {
  const std::uint32_t where = raw(lock) >> 30;
  return where == 1 || where == 2;
}

}  // namespace kojak::measure
