#include "expert/page/bottlenecks.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "expert/findings/rules.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/aggregate.h"

namespace kojak::html {
namespace {

using cube::Report;

bool is_waiting(const cube::Metric& metric, std::span<const expert::Metric> catalogue) {
  const expert::Metric* entry = explanation(metric, catalogue);
  return entry != nullptr && expert::is_wait(*entry);
}

void look_at_locations(std::span<const double> row, Bottleneck& out) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > 0) order.push_back(i);
  }
  out.waiting_locations = order.size();
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  if (order.size() > kWorstLocations) order.resize(kWorstLocations);
  for (const std::size_t i : order) out.worst_locations.emplace_back(i, row[i]);
  const std::size_t points = std::min(kProfilePoints, row.size());
  out.profile.assign(points, 0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    double& point = out.profile[i * points / row.size()];
    point = std::max(point, row[i]);
  }
}

bool all_wait_for_the_last(const cube::Metric& metric, std::span<const expert::Metric> catalogue) {
  const expert::Metric* entry = explanation(metric, catalogue);
  return entry != nullptr && entry->for_the_last;
}

// Where most of a metric's time passes.
void find_place(const Report& report, double total, Consumer& consumer) {
  double most = 0;
  for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
    const std::span<const double> row = report.severities.row(consumer.metric, c);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum <= most) continue;
    most = sum;
    consumer.call_node = c;
  }
  consumer.part = most / total;
}

std::optional<Consumer> find_unexplained(const Report& report, const expert::RunTime& time) {
  const std::size_t m = report.find_metric(expert::NotExplained::kMetric.name);
  if (m == cube::kNone) return std::nullopt;
  Consumer found{m, 0, 0, 0};
  double most = 0;
  for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
    if (time.left_out > 0 && expert::starts_or_ends_library(report.region_name(c))) continue;
    const std::span<const double> row = report.severities.row(m, c);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    found.seconds += sum;
    if (sum <= most) continue;
    most = sum;
    found.call_node = c;
  }
  if (!(found.seconds > 0) || found.seconds < expert::kWorthLooking * time.whole)
    return std::nullopt;
  found.part = most / found.seconds;
  return found;
}

std::vector<Consumer> find_consumers(const Report& report,
                                     std::span<const expert::Metric> catalogue,
                                     const std::vector<double>& totals, double whole) {
  std::vector<Consumer> consumers;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const expert::Metric* entry = explanation(report.metrics[m], catalogue);
    if (entry == nullptr || !entry->is_call_time()) continue;
    double left = totals[m];
    for (std::size_t part = 0; part < report.metrics.size(); ++part) {
      if (report.metrics[part].parent == m) left -= totals[part];
    }
    if (!(left > expert::kLargeConsumer * whole)) continue;
    Consumer consumer{m, 0, left, 0};
    find_place(report, totals[m], consumer);
    consumers.push_back(consumer);
  }
  std::stable_sort(consumers.begin(), consumers.end(),
                   [](const Consumer& a, const Consumer& b) { return a.seconds > b.seconds; });
  if (consumers.size() > 3) consumers.resize(3);
  return consumers;
}

// The location that waits much less than every other one.
std::size_t least_waiting(std::span<const double> row) {
  if (row.size() < 2) return cube::kNone;
  std::size_t least = row[1] < row[0] ? 1 : 0;
  std::size_t next = 1 - least;
  for (std::size_t i = 2; i < row.size(); ++i) {
    if (row[i] < row[least]) {
      next = std::exchange(least, i);
    } else if (row[i] < row[next]) {
      next = i;
    }
  }
  const double mean =
      std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
  return row[least] < 0.1 * mean && row[next] > 0.3 * mean ? least : cube::kNone;
}

// Time by kind. Each metric's own time (without its children's) counts once.
std::vector<TimeShare> shares_of(const Report& report, const std::vector<bool>& waiting,
                                 const std::vector<double>& totals, double left_out) {
  const std::size_t time = report.find_metric(expert::Time::kMetric.name);
  if (time == cube::kNone) return {};
  const auto total = [&](const expert::Metric& metric) {
    const std::size_t m = report.find_metric(metric.name);
    return m == cube::kNone ? 0.0 : totals[m];
  };
  double waits = 0;
  for (std::size_t m = 0; m < totals.size(); ++m) {
    if (waiting[m]) waits += totals[m];
  }
  // (What ARMCI does is MPI's in nearly all of its networks. UPC's is called MPI's, too.)
  const double mpi = total(expert::Mpi::kMetric) + total(expert::InArmci<expert::Shmem>::kMetric) +
                     total(expert::InUpc<expert::Shmem>::kMetric),
               shmem = total(expert::Shmem::kMetric), lost = total(expert::Overhead::kMetric);
  std::vector<TimeShare> shares{
      {"computation", totals[time] - mpi - shmem - lost},
      {shmem > 0 ? mpi > 0 ? "mpi_shmem" : "shmem" : "mpi", mpi + shmem - waits - left_out},
      {"waiting", waits},
      {"overhead", lost}};
  for (TimeShare& share : shares) share.seconds = std::max(0.0, share.seconds);
  return shares;
}

}  // namespace

const expert::Metric* explanation(const cube::Metric& metric,
                                  std::span<const expert::Metric> catalogue) {
  const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                  [&](const auto& entry) { return entry.name == metric.name; });
  return found == catalogue.end() ? nullptr : &*found;
}

Overview find_bottlenecks(const Report& report, std::span<const expert::Metric> catalogue,
                          double threshold) {
  Overview overview;
  const std::size_t metrics = report.metrics.size();
  std::vector<bool> waiting(metrics);
  for (std::size_t m = 0; m < metrics; ++m) waiting[m] = is_waiting(report.metrics[m], catalogue);
  const std::vector<double> totals = cube::totals(report);
  const std::size_t time = report.find_metric(expert::Time::kMetric.name);
  overview.seconds = totals.empty() ? 0 : totals[time == cube::kNone ? 0 : time];
  overview.time = expert::RunTime::of([&](std::string_view name) {
    const std::size_t m = report.find_metric(name);
    return m == cube::kNone ? 0.0 : totals[m];
  });
  if (time == cube::kNone) overview.time.whole = overview.seconds;
  const double whole = overview.time.whole;
  overview.shares = shares_of(report, waiting, totals, overview.time.left_out);
  overview.consumers = find_consumers(report, catalogue, totals, whole);
  overview.unexplained = find_unexplained(report, overview.time);
  for (std::size_t m = 0; m < metrics; ++m) {
    if (!waiting[m]) continue;
    for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
      const std::span<const double> row = report.severities.row(m, c);
      const double seconds = std::accumulate(row.begin(), row.end(), 0.0);
      if (!(seconds > 0)) continue;
      const double share = whole > 0 ? seconds / whole : 0;
      if (share < threshold) {
        ++overview.below_threshold;
        overview.seconds_below_threshold += seconds;
        continue;
      }
      Bottleneck found;
      found.metric = m;
      found.call_node = c;
      found.seconds = seconds;
      found.share = share;
      look_at_locations(row, found);
      if (all_wait_for_the_last(report.metrics[m], catalogue))
        found.waited_for = least_waiting(row);
      // In document order the metrics below m follow it.
      for (std::size_t part = m + 1; part < metrics; ++part) {
        std::size_t above = report.metrics[part].parent;
        while (above != cube::kNone && above != m) above = report.metrics[above].parent;
        if (above != m) break;
        const std::span<const double> values = report.severities.row(part, c);
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        if (sum > 0) found.parts.emplace_back(part, sum);
      }
      overview.bottlenecks.push_back(std::move(found));
    }
  }
  std::stable_sort(overview.bottlenecks.begin(), overview.bottlenecks.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.seconds > b.seconds; });
  return overview;
}

}  // namespace kojak::html
