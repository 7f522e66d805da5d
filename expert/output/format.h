// How values of a report are written for people on a terminal.
//
// Pure functions; thread-safe.
#pragma once

#include <string>

#include "expert/profile/aggregate.h"

namespace kojak::cube {

// Seconds with 6 decimals, bytes and counts as whole numbers (with decimals if they have some).
std::string format_value(Unit unit, double value);
// The same with its sign, for differences: "+0.250000".
std::string format_change(Unit unit, double value);

// The shortest form that reads back as the same number, for files that programs read.
std::string format_exact(double value);

}  // namespace kojak::cube
