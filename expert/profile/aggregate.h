// Sums over a report: along the call tree, over locations, over regions.
//
// Nothing is cached: a function computes what it returns, one metric at a time, so memory follows
// the size of the trees and not their product. Thread-safe.
#pragma once

#include <vector>

#include "expert/profile/model.h"

namespace kojak::cube {

// Of each call path, over all locations; without its callees.
std::vector<double> call_path_sums(const Report& report, std::size_t metric);
// The same for every metric, without what its children have of it: each second counts once.
std::vector<std::vector<double>> own_call_path_sums(const Report& report);
// Adds to each call path what its callees have: exclusive values become inclusive ones.
void add_callees(const Report& report, std::vector<double>& values);
// Over everything.
double total(const Report& report, std::size_t metric);
std::vector<double> totals(const Report& report);
// Of each location, over all call paths.
std::vector<double> location_sums(const Report& report, std::size_t metric);
// Of each region, over all call paths that end in it and all locations.
std::vector<double> region_sums(const Report& report, std::size_t metric);

// The root of a metric's tree; a percentage is a part of the root's total.
std::vector<std::size_t> metric_roots(const Report& report);
// How many nodes stand above each.
std::vector<std::size_t> metric_depths(const Report& report);
std::vector<std::size_t> call_node_depths(const Report& report);
bool has_child_metric(const Report& report, std::size_t metric);
// What decides how a value is written; a metric without a unit counts as occurrences.
enum class Unit : std::uint8_t { kSeconds, kBytes, kCount };
Unit unit_of(const Metric& metric);

}  // namespace kojak::cube
