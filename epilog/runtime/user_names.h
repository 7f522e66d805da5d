// Regions that are known by their names only: those of Fortran, and names that come to be at run
// time.
//
// Equal names at one place are one region, in all threads; Fortran has no places. The texts are
// kept for the life of the program: as many as there are different names. Thread-safe. Without
// memory: nullptr, the region goes unrecorded.
#pragma once

#include <cstddef>

struct elg_region;

namespace kojak::measure {

const elg_region* named_region(const char* text, std::size_t length, const char* file, int line);

}  // namespace kojak::measure
