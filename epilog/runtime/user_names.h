// Regions that are known by their names only, as Fortran gives them.
//
// Equal names are one region, in all threads. The texts are kept for the life of the program: as
// many as there are different names. Thread-safe. Without memory: nullptr, the region goes
// unrecorded.
#pragma once

#include <cstddef>

struct elg_region;

namespace kojak::measure {

// Blanks at the end of a Fortran string do not count.
const elg_region* named_region(const char* text, std::size_t length);

}  // namespace kojak::measure
