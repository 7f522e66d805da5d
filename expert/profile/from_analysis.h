// A finished analysis as a report in memory, as a reader gives it of the file that the analysis
// writes: the same trees with the same numbers, texts that XML can hold.
//
// Pure functions; nothing fails; any thread.
#pragma once

#include "expert/profile/model.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// All but the severities. The file and the mirrors are for the caller to name.
cube::Report profile_of(const Report& analysis);
// The values of one metric and call node over the locations. False if all are 0.
bool profile_row(const Report& analysis, std::size_t metric, std::size_t call_node,
                 std::span<double> out);
void add_severities(const Report& analysis, cube::Report& profile);

}  // namespace kojak::expert
