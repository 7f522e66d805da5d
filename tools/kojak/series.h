// Several reports of one program as a series: time, waiting and efficiency of each run, which waits
// grow, and whether the last run is worse than those before.
//
// A Run is what a report says in few numbers; the report itself is not kept. Pure functions over
// plain values. Errors: exit code 2 for a report without time. Source of the efficiencies:
// expert/profile/efficiency.h, the same from a report's values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "expert/profile/model.h"

namespace kojak::run {

struct Efficiencies {
  double load_balance = 1, communication = 1;
  double parallel() const { return load_balance * communication; }
};
struct Run {
  std::string file;
  std::size_t processes = 0, locations = 0;
  double time = 0;   // seconds, of the location that took longest
  double total = 0;  // seconds, of all locations, as what follows
  double waiting = 0;
  double computing = 0;  // outside of MPI, other communication and the measurement
  std::optional<Efficiencies> efficiency;
  // Seconds of all locations, one for each pattern in the order of patterns(); 0 where the report
  // has no such metric.
  std::vector<double> waits;
  // Seconds of each location in the mean.
  double each(double seconds) const {
    return locations == 0 ? 0 : seconds / static_cast<double>(locations);
  }
};

// The patterns that are waiting of their own, by the names of their metrics.
struct Pattern {
  std::string name, title;
};
const std::vector<Pattern>& patterns();

Result<Run> run_of(const cube::Report& report);

// What became worse by more than a part of the run's time.
struct Regression {
  std::string metric, title;
  double before, after;  // seconds: "time" of the longest location, else of each in the mean
};
// The last run against the medians of those before, which must have as many locations.
std::vector<Regression> regressions(const std::vector<Run>& runs, double part);
bool same_sizes(const std::vector<Run>& runs);

// Against the first run. Ideal is 1: with `weak`, where work grows with the processes, as long as
// the first; else as much shorter as it has more processes.
double of_ideal(const Run& first, const Run& run, bool weak);

// For scripts; docs/report.md says what is in it.
std::string series_json(const std::vector<Run>& runs, bool weak, std::optional<double> part,
                        const std::vector<Regression>& worse);

}  // namespace kojak::run
