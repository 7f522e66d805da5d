// Severities while a trace is read: one number for each metric x call path x location.
//
// Rows over the locations, dense, allocated when something is first added to them, so memory grows
// with call paths x locations. Identifiers are dense indices from 0; a row's
// address never changes, so that hot paths may keep it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "epilog/format/record/types.h"

namespace kojak::expert {

using MetricIndex = std::uint32_t;    // in the catalogue
using CallPathIndex = std::uint32_t;  // in order of first appearance in the trace
using LocationIndex = std::uint32_t;

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

 private:
  std::size_t locations_;
  std::vector<std::unique_ptr<Cell[]>> rows_;
};

class SeverityStore {
 public:
  SeverityStore(std::size_t metrics, std::size_t locations) : locations_(locations) {
    metrics_.reserve(metrics);
    for (std::size_t m = 0; m < metrics; ++m) metrics_.emplace_back(locations);
  }

  // One more metric; its number.
  MetricIndex add_metric() {
    metrics_.emplace_back(locations_);
    return static_cast<MetricIndex>(metrics_.size() - 1);
  }

  std::size_t metrics() const { return metrics_.size(); }
  std::size_t locations() const { return locations_; }

  KOJAK_INLINED void add(MetricIndex metric, CallPathIndex call_path, LocationIndex location,
                         double value) {
    metrics_[metric].row(call_path)[location] += value;
  }
  // The values over the locations; empty if nothing was ever added.
  std::span<const double> row(MetricIndex metric, CallPathIndex call_path) const {
    return metrics_[metric].find(call_path);
  }

 private:
  std::size_t locations_;
  std::vector<RowTable<double>> metrics_;
};

}  // namespace kojak::expert
