// How values and names of a report are written for people on a terminal.
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "expert/profile/aggregate.h"

namespace kojak::cube {

// Seconds with 6 decimals, bytes and counts as whole numbers (with decimals if they have some).
std::string format_value(Unit unit, double value);
// The same with its sign, for differences: "+0.250000".
std::string format_change(Unit unit, double value);

// The shortest form that reads back as the same number, for files that programs read.
std::string format_exact(double value);

// A name from a report as one line of at most `width` characters: control characters (a terminal
// would obey them), line breaks, changes of the direction of writing and broken UTF-8 become
// U+FFFD; what is too long ends in "...". `width` 0: any length.
std::string printable(std::string_view name, std::size_t width = 0);

// The same for a call path, of which the end is what matters: "... / exchange / MPI_Put".
std::string printable_path(std::string_view path, std::size_t width);

}  // namespace kojak::cube
