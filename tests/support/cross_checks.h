// Checks of the pattern spec that hold for every trace and its report, and changes of a trace under
// which a report must stay as it is.
//
// Traces come as bytes in memory or as the text form. Each check gives one line for each thing that
// is wrong, none if all is well; malformed input throws std::runtime_error. No state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cube_reader.h"

namespace kojak::support {

// The sum of Time over everything is the sum over the locations of (last exit - first enter).
std::vector<std::string> check_time(const Cube& cube, const std::vector<std::byte>& trace);

// All that holds on every report of a trace: check_time, and check_report of report_checks.h.
std::vector<std::string> cross_checks(const Cube& cube, const std::vector<std::byte>& trace);

// The text of a trace with every event later by `seconds`.
std::string shifted(std::string_view trace_text, double seconds);

// The text of a trace in the basic model: each transfer end back before the exit of the call that
// issued the transfer, with its time.
std::string basic_model(std::string_view trace_text);

}  // namespace kojak::support
