// What stands in SHMEM prototypes beside C's own types, and what the generated code needs of the
// rest.
//
// No shmem.h is read: wrappers take addresses and words as they come, so that functions of any
// library and version of OpenSHMEM can be taken. What numbers mean, constants.h knows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epilog/runtime/config.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t;
using std::ptrdiff_t, std::size_t;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

using Context = void*;
using Team = void*;

// A function, as its wrapper knows it.
struct ShmemEntry {
  unsigned function;    // its number
  std::uint32_t group;  // that ELG_MPI switches
  bool blocks;
};

// A function that the program's library does not have: says so once, and does nothing.
[[gnu::cold, gnu::noinline]] void missing_shmem_function(const char* name);

}  // namespace kojak::measure
