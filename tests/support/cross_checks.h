// Checks that hold for every trace and its report. (What must hold between a
// trace and a changed one: tests/unit/metamorphic_relations.h.)
//
// Traces come as bytes in memory. Each check gives one line for each thing that is wrong, none if
// all is well; malformed input throws std::runtime_error. No state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/cube_reader.h"

namespace kojak::support {

// The sum of Time over everything is the sum over the locations of (last exit - first enter).
std::vector<std::string> check_time(const Cube& cube, const std::vector<std::byte>& trace);

// All that holds on every report of a trace: check_time, and check_report of report_checks.h.
std::vector<std::string> cross_checks(const Cube& cube, const std::vector<std::byte>& trace);

}  // namespace kojak::support
