// Severities while a trace is read: one number for each metric x call path x location.
//
// Numbers are whole: what is added is rounded once, so the order of adding changes nothing. A cell
// holds 97 days, or 2^63 of what is counted; what goes beyond stays at that limit and is counted,
// and so is what is no number.
//
// Rows over the locations, dense, allocated when something is first added to them, so memory grows
// with call paths x locations. Identifiers are dense indices from 0; a row's
// address never changes, so that hot paths may keep it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "earl/aspects/call_tree.h"
#include "epilog/format/definitions.h"
#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

// A call path as the trace had it.
struct CallPath {
  RegionId region{};
  CallSiteId site = absent<CallSiteId>();
  std::size_t parent = kNone;  // in order of first appearance
};

// In that order.
std::vector<CallPath> call_paths_of(const earl::CallTree& tree);

// Whether a hardware counter can be added over calls: a rate or a sample cannot.
constexpr bool adds_up(const MetricDef& counter) {
  constexpr std::uint8_t kCounts = 0;
  return counter.mode == kCounts;
}

// Rows of any cell type, by call path.
template <class Cell>
class RowTable {
 public:
  explicit RowTable(std::size_t locations) : locations_(locations) {}
  KOJAK_INLINED Cell* row(CallPathIndex call_path) {
    if (call_path >= rows_.size()) [[unlikely]]
      rows_.resize(call_path + 1);
    if (rows_[call_path] == nullptr) [[unlikely]]
      rows_[call_path] = std::make_unique<Cell[]>(locations_);
    return rows_[call_path].get();
  }
  std::span<const Cell> find(CallPathIndex call_path) const {
    if (call_path >= rows_.size() || rows_[call_path] == nullptr) return {};
    return {rows_[call_path].get(), locations_};
  }
  void release(CallPathIndex call_path) { rows_[call_path].reset(); }
  template <class Archive>
  void visit(Archive& archive) {
    std::uint64_t size = rows_.size();
    archive(size);
    if constexpr (Archive::kReads) rows_.clear();
    for (std::uint64_t r = 0; r < size; ++r) {
      bool there = !Archive::kReads && rows_[r] != nullptr;
      archive(there);
      if (!there) continue;
      Cell* const cells = row(static_cast<CallPathIndex>(r));
      for (std::size_t l = 0; l < locations_; ++l) archive(cells[l]);
    }
  }

 private:
  std::size_t locations_;
  std::vector<std::unique_ptr<Cell[]>> rows_;
};

class SeverityStore {
 public:
  // What a cell counts: times in ticks, whole things, or units of 2^-64 of what need not be whole
  // (some hardware counters).
  enum class Cells : std::uint8_t { kTicks, kWhole, kFractions };
  static constexpr Cells cells_of(const Metric& metric) {
    if (metric.fractions) return Cells::kFractions;
    return metric.unit == Unit::kSeconds ? Cells::kTicks : Cells::kWhole;
  }

  SeverityStore(std::span<const Metric> metrics, std::size_t locations) : locations_(locations) {
    for (const Metric& metric : metrics) add_metric(cells_of(metric));
  }
  // One more metric; its number.
  MetricIndex add_metric(Cells cells) {
    metrics_.push_back({cells, RowTable<std::int64_t>(locations_), RowTable<Amount>(locations_)});
    return static_cast<MetricIndex>(metrics_.size() - 1);
  }

  std::size_t metrics() const { return metrics_.size(); }
  std::size_t locations() const { return locations_; }

  void add(MetricIndex metric, CallPathIndex call_path, LocationIndex location, double value) {
    if (std::isnan(value)) [[unlikely]] {
      ++left_out_;
      return;
    }
    OfMetric& of = metrics_[metric];
    const double units = value * units_of(of.cells);
    if (of.cells != Cells::kFractions) {
      return add_whole(metric, call_path, location, nearest_whole(units));
    }
    Amount& cell = of.fractions.row(call_path)[location];
    const double within = std::clamp(units, -kMostFractions, kMostFractions);
    const Amount sum = cell + static_cast<Amount>(within);  // each of them below 2^126
    const auto most = static_cast<Amount>(kMostFractions);
    cell = std::clamp(sum, -most, most);
    limited_ += within != units || cell != sum;
  }
  void add(MetricIndex metric, CallPathIndex call_path, LocationIndex location, TimeSum time) {
    add_whole(metric, call_path, location, time.ticks());
  }
  void on_wait(const Wait& wait) {
    if (wait.known == Wait::Known::kInSum) return;
    add(wait.metric, wait.call_path, wait.location, wait.waiting.value);
  }
  void on_sum(MetricIndex metric, CallPathIndex call_path, LocationIndex location, TimeSum time) {
    add(metric, call_path, location, time);
  }
  void on_moved(CallPathIndex call_path, LocationIndex location, MetricIndex from,
                std::optional<MetricIndex> to) {
    if (whole_row(from, call_path).empty()) return;
    const TimeSum time(std::exchange(metrics_[from].whole.row(call_path)[location], 0));
    if (to) add(*to, call_path, location, time);
  }
  template <class Time>
  void on_time(MetricIndex metric, CallPathIndex call_path, LocationIndex location, Time time) {
    add(metric, call_path, location, time);
  }
  void on_count(MetricIndex metric, CallPathIndex call_path, LocationIndex location,
                std::uint64_t amount) {
    add_count(metric, call_path, location, amount);
  }
  void on_amount(MetricIndex metric, CallPathIndex call_path, LocationIndex location,
                 double amount) {
    add(metric, call_path, location, amount);
  }
  // Ticks, or what is counted; not of a metric with fractions.
  void add_whole(MetricIndex metric, CallPathIndex call_path, LocationIndex location,
                 std::int64_t value) {
    std::int64_t& cell = metrics_[metric].whole.row(call_path)[location];
    bool beyond = value == kMostWhole || value == -kMostWhole;
    cell = limited_sum(cell, value, beyond);
    limited_ += beyond;
  }
  void add_count(MetricIndex metric, CallPathIndex call_path, LocationIndex location,
                 std::uint64_t count) {
    add_whole(metric, call_path, location,
              static_cast<std::int64_t>(std::min<std::uint64_t>(count, kMostWhole)));
  }

  // What another one has, which has the same metrics and locations; its call path p is paths[p]
  // here.
  void add(const SeverityStore& other, std::span<const CallPathIndex> paths) {
    limited_ += other.limited_;
    left_out_ += other.left_out_;
    for (MetricIndex m = 0; m < other.metrics_.size(); ++m) {
      for (CallPathIndex p = 0; p < paths.size(); ++p) {
        const auto whole = other.metrics_[m].whole.find(p);
        for (std::size_t l = 0; l < whole.size(); ++l) add_whole(m, paths[p], l, whole[l]);
        const auto fractions = other.metrics_[m].fractions.find(p);
        constexpr auto kMost = static_cast<Amount>(kMostFractions);
        for (std::size_t l = 0; l < fractions.size(); ++l) {
          Amount& cell = metrics_[m].fractions.row(paths[p])[l];
          cell = std::clamp(cell + fractions[l], -kMost, kMost);
        }
      }
    }
  }

  // The cells over the locations; empty if nothing was ever added, and of metrics with fractions.
  std::span<const std::int64_t> whole_row(MetricIndex metric, CallPathIndex call_path) const {
    return metrics_[metric].whole.find(call_path);
  }
  // Adds the row to sums over the locations.
  void add_row_to(std::span<Amount> sums, MetricIndex metric, CallPathIndex call_path) const {
    const auto add = [&](auto row) {
      for (std::size_t l = 0; l < row.size(); ++l) sums[l] += row[l];
    };
    const OfMetric& of = metrics_[metric];
    of.cells == Cells::kFractions ? add(of.fractions.find(call_path))
                                  : add(of.whole.find(call_path));
  }
  // A sum of cells of the metric: the nearest in seconds, or in what is counted.
  double value(MetricIndex metric, Amount sum) const {
    return static_cast<double>(sum) / units_of(metrics_[metric].cells);
  }

  // Between stores of the same metrics and locations.
  template <class Archive>
  void visit(Archive& archive) {
    for (OfMetric& of : metrics_) archive(of.whole, of.fractions);
    archive(limited_, left_out_);
  }

  // How often a cell came to its limit, and how many values were no numbers and left out.
  std::uint64_t limited() const { return limited_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr double kMostFractions = 0x1p125;
  struct OfMetric {
    Cells cells{};
    RowTable<std::int64_t> whole;
    RowTable<Amount> fractions;
  };
  static constexpr double units_of(Cells cells) {
    return cells == Cells::kTicks ? kTicksPerSecond : cells == Cells::kWhole ? 1 : 0x1p64;
  }

  std::size_t locations_;
  std::vector<OfMetric> metrics_;
  std::uint64_t limited_ = 0, left_out_ = 0;
};

}  // namespace kojak::expert
