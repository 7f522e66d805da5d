#include "expert/profile/aggregate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kojak::cube {
namespace {

template <class Node>
std::vector<std::size_t> depths_in(const std::vector<Node>& tree) {
  std::vector<std::size_t> depths(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].parent != kNone) depths[i] = depths[tree[i].parent] + 1;
  }
  return depths;
}

double sum(std::span<const double> row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

}  // namespace

std::vector<double> call_path_sums(const Report& report, std::size_t metric) {
  std::vector<double> sums(report.call_nodes.size());
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = sum(report.severities.row(metric, c));
  return sums;
}

std::vector<std::vector<double>> own_call_path_sums(const Report& report) {
  std::vector<std::vector<double>> whole;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    whole.push_back(call_path_sums(report, m));
  }
  std::vector<std::vector<double>> own = whole;
  for (std::size_t m = 0; m < own.size(); ++m) {
    const std::size_t parent = report.metrics[m].parent;
    if (parent == kNone) continue;
    for (std::size_t c = 0; c < own[m].size(); ++c) own[parent][c] -= whole[m][c];
  }
  // What subtraction leaves of equal numbers in decimal digits is nothing.
  for (std::size_t m = 0; m < own.size(); ++m) {
    for (std::size_t c = 0; c < own[m].size(); ++c) {
      if (std::abs(own[m][c]) <= 1e-10 * std::abs(whole[m][c])) own[m][c] = 0;
    }
  }
  return own;
}

void add_callees(const Report& report, std::vector<double>& values) {
  for (std::size_t c = report.call_nodes.size(); c-- > 0;) {
    const std::size_t parent = report.call_nodes[c].parent;
    if (parent != kNone) values[parent] += values[c];
  }
}

double total(const Report& report, std::size_t metric) {
  return sum(call_path_sums(report, metric));
}

std::vector<double> totals(const Report& report) {
  std::vector<double> result(report.metrics.size());
  report.severities.for_each_row([&](std::size_t metric, std::size_t, std::span<const double> row) {
    result[metric] += sum(row);
  });
  return result;
}

std::vector<double> location_sums(const Report& report, std::size_t metric) {
  std::vector<double> sums(report.locations());
  for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
    const std::span<const double> row = report.severities.row(metric, c);
    for (std::size_t i = 0; i < row.size(); ++i) sums[i] += row[i];
  }
  return sums;
}

std::vector<double> region_sums(const Report& report, std::size_t metric) {
  std::vector<double> sums(report.regions.size());
  for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
    sums[report.call_nodes[c].region] += sum(report.severities.row(metric, c));
  }
  return sums;
}

std::vector<std::size_t> metric_roots(const Report& report) {
  std::vector<std::size_t> roots(report.metrics.size());
  for (std::size_t m = 0; m < roots.size(); ++m) {
    const std::size_t parent = report.metrics[m].parent;
    roots[m] = parent == kNone ? m : roots[parent];
  }
  return roots;
}

std::vector<std::size_t> metric_depths(const Report& report) {
  return depths_in(report.metrics);
}

std::vector<std::size_t> call_node_depths(const Report& report) {
  return depths_in(report.call_nodes);
}

bool has_child_metric(const Report& report, std::size_t metric) {
  // In document order a child, if there is one, comes next.
  return metric + 1 < report.metrics.size() && report.metrics[metric + 1].parent == metric;
}

Unit unit_of(const Metric& metric) {
  if (metric.unit == "sec") return Unit::kSeconds;
  if (metric.unit == "bytes") return Unit::kBytes;
  return Unit::kCount;
}

}  // namespace kojak::cube
