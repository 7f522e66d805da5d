// Checks that hold on every report, and the comparison of reports with each other and with a truth
// file.
//
// Each function gives one line for each thing that is wrong, none if all is well.
#pragma once

#include <string>
#include <vector>

#include "tests/support/cube_reader.h"

namespace kojak::support {

// Every metric is at least the sum of its children, at each call path and thread; no time exceeds
// the time spent there (Idle Threads apart); nothing is negative or not a number; matrices for all
// metrics.
std::vector<std::string> check_report(const Cube& cube);

// Same metrics, call paths and threads, and severities that agree to within `tolerance`.
std::vector<std::string> compare_reports(const Cube& one, const Cube& other, double tolerance);

// Lines `metric function rank value`: the sum over the call paths that end in the function ("*":
// all functions; FUNCTION@CALLER:LINE: those of a call site), on the process of that rank. Times
// must agree to within `tolerance` seconds or `share` of the expected one, whichever is more;
// counts and bytes exactly. An empty truth is an error. Throws CubeError if the file cannot be
// read.
std::vector<std::string> compare_with_truth(const Cube& cube, const std::string& truth_path,
                                            double tolerance, double share = 0);

}  // namespace kojak::support
