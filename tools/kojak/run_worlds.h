// The runs of one command: each MPI_COMM_WORLD that it makes is recorded and reported by itself.
//
// A script may run MPI twice, a process may spawn others or start a launcher. Reads reports; prints
// to standard error, nothing with --quiet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/kojak/run_claim.h"
#include "tools/kojak/run_directory.h"
#include "tools/kojak/series.h"

namespace kojak::run {

struct WorldReport {
  std::string folder;
  RunFacts facts;
  bool spawned = false;
  std::optional<Run> numbers;  // if there is a report
  std::string said;            // by the analysis
};

// Those that left traces in a folder, in the order in which they began. `folder`: where the first
// one's traces go, and, with .2, .3 ..., those of others where the processes could tell nothing.
std::vector<WorldReport> worlds_of(const std::string& folder, const RunLines& lines);

// Reads the report in the folder.
void read_numbers(WorldReport& world);

// All of them as a table, and before it what the analysis said of those that waited most; of the
// others its warnings alone.
void print_worlds(std::vector<WorldReport> worlds);

}  // namespace kojak::run
