// What elg_stat prints of a profile: tables for people and as CSV, and everything as JSON.
//
// Pure functions of the profile; they own nothing and cannot fail. Times have six decimals for
// people and nine for programs.
#pragma once

#include <iosfwd>

#include "tools/cli/table.h"
#include "tools/region_profile.h"

namespace kojak {

enum class Digits : int { kPeople = 6, kPrograms = 9 };

// One row for each region, at most `top`.
cli::Table region_table(const std::vector<RegionTotals>& regions, std::size_t top, Digits digits);
// One row for each process.
cli::Table process_table(const TraceProfile& profile, Digits digits);
// One row for each process and region.
cli::Table call_table(const TraceProfile& profile, Digits digits);
// One row for each pair of processes between which data moved.
cli::Table flow_table(const TraceProfile& profile);

// Bytes of messages and of one-sided transfers as matrices, from each row's process to each
// column's.
void print_matrices(const TraceProfile& profile, std::ostream& out);

void print_json(const TraceProfile& profile, std::ostream& out);

}  // namespace kojak
