// What of a report's time its parts take, and where its waits are.
//
// Pure functions; nothing fails; any thread.
#pragma once

#include <vector>

#include "expert/profile/report.h"
#include "expert/profile/run_time.h"

namespace kojak::expert {

// What shares are of (run_time.h), and of each metric the part that lies in it.
struct Shares {
  RunTime time;
  std::vector<double> start;     // seconds of each metric that lie in it
  std::vector<bool> other_tree;  // those of other trees, which may have some of the start or none

  explicit Shares(const Report& report);
  // Of a metric's total: without the start, if that is a part of it.
  double part(const Report& report, std::size_t m) const;
  static bool is_start(const Report& report, std::size_t call_path);
};
inline double whole_time(const Report& report) {
  return Shares(report).time.whole;
}

// One waiting pattern at one call path, over all threads.
struct PlaceWait {
  std::size_t metric = 0;
  std::size_t call_path = 0;
  double seconds = 0;
  std::size_t worst_thread = 0;
  double worst_seconds = 0;
};
// All waits above 0, the longest first. A pattern that is a part of another is left out.
std::vector<PlaceWait> waits_of(const Report& report);

// How long the run took: of the thread with the most time between MPI_Init and MPI_Finalize.
double run_seconds(const Report& report);

}  // namespace kojak::expert
