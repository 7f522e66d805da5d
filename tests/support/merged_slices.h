// The slices of a merged trace: what analyses a run in slices can be compared with one process on
// any trace that a test has. (expert itself cuts local traces alone.)
//
// For tests only. Memory: at most 2^20 rows, with where their locations stand, and the definitions
// of each location. Errors: those of reading.
#pragma once

#include <memory>
#include <string>

#include "expert/parallel/slices.h"

namespace kojak::test {

// Reads the file once for the meetings, and for each slice what lies in it.
Result<std::unique_ptr<parallel::Slices>> slices_of_trace(const std::string& file);

}  // namespace kojak::test
