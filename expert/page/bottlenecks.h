// What is wrong, computed from a report: where processes wait, worst first.
//
// A bottleneck is a waiting pattern at a call path. Patterns inside another pattern (Late Complete
// in Early Wait) are named with the outer one, so that no second is listed twice. What a pattern is
// and what its name means comes from the catalogue of metrics that the caller passes, by unique
// name; so reports of the classic tools are explained as well.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "expert/metrics/metric.h"
#include "expert/profile/model.h"
#include "expert/profile/run_time.h"

namespace kojak::html {

struct Bottleneck {
  std::size_t metric = 0;
  std::size_t call_node = 0;
  double seconds = 0;
  double share = 0;  // of Overview::time.whole
  // Locations that wait, most first: at most kWorstLocations of them.
  std::vector<std::pair<std::size_t, double>> worst_locations;
  std::size_t waiting_locations = 0;
  // Where all wait for the last: the one location that hardly waits, if there is one. The others
  // wait for it.
  std::size_t waited_for = cube::kNone;
  // Values over all locations in their order, the largest of each group where there are many.
  std::vector<double> profile;
  // Patterns inside this one: metric and seconds.
  std::vector<std::pair<std::size_t, double>> parts;
};

inline constexpr std::size_t kWorstLocations = 5;
inline constexpr std::size_t kProfilePoints = 64;

// The time between MPI_Init and MPI_Finalize in a few kinds; they add up to it.
struct TimeShare {
  std::string kind;  // "computation", "waiting", "mpi" (communication without waiting), "overhead"
  double seconds = 0;
};

// A kind of MPI calls whose time no pattern of waiting explains.
struct Consumer {
  std::size_t metric = 0;
  std::size_t call_node = 0;  // where most of it passes
  double seconds = 0;
  double part = 0;  // of the metric's time, there
};
inline constexpr double kLargeConsumer = 0.05;  // of Overview::time.whole

struct Overview {
  double seconds = 0;    // of the root metric, over all locations
  expert::RunTime time;  // what of it shares are of
  std::vector<TimeShare> shares;
  std::vector<Bottleneck> bottlenecks;
  std::vector<Consumer> consumers;  // the most first, at most three
  // Long calls that no pattern explains (mpi_unexplained), if they take 1 % of time.whole.
  std::optional<Consumer> unexplained;
  std::size_t below_threshold = 0;
  double seconds_below_threshold = 0;
};

// Bottlenecks of less than `threshold` (a share) are only counted.
Overview find_bottlenecks(const cube::Report& report, std::span<const expert::Metric> catalogue,
                          double threshold = 0.001);

// The catalogue's entry for a metric of the report, null if there is none.
const expert::Metric* explanation(const cube::Metric& metric,
                                  std::span<const expert::Metric> catalogue);

}  // namespace kojak::html
