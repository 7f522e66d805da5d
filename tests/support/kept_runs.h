// Traces and their reports that a test analysed, kept for the independent analysis
// (tests/independent), which compares them all in one process afterwards.
//
// For tests only: failures to write are exceptions that GoogleTest reports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace kojak::support {

// Puts the trace, as text, and its report into the folder that KOJAK_KEPT_RUNS names, as
// NAME-NUMBER.txt and .cube; does nothing where it is not set.
void keep_run(const std::string& name, const std::vector<std::byte>& trace,
              const std::filesystem::path& report);

}  // namespace kojak::support
