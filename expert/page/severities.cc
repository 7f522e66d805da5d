#include "expert/page/severities.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "expert/page/blob.h"
#include "expert/profile/aggregate.h"

namespace kojak::html {
namespace {

using cube::Report;

// How a row's values are found again; web/src/data.ts knows the same numbers.
enum class Kind : std::uint8_t { kNone, kConstant, kDouble, kSixteen, kEight };

struct Row {
  std::uint32_t metric, call_node;
  double largest;  // magnitude
  double weight;   // as a part of the metric's root: what rows of all units are compared by
  bool negative, constant, whole;
};

class Packer {
 public:
  Packer(const Report& report, const Report* before);
  PackedSeverities pack(std::size_t max_bytes) const;

 private:
  bool exclusive(std::size_t metric, std::size_t call_node, std::vector<double>& out) const;
  void add(const Report& from, std::size_t metric, std::size_t call_node, double factor,
           std::vector<double>& out, double& scale) const;
  PackedSeverities encode(const std::vector<Kind>& wanted) const;
  PackedSeverities pack_rounded(std::size_t max_bytes) const;

  const Report& report_;
  const Report* before_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<Row> rows_;
};

Packer::Packer(const Report& report, const Report* before)
    : report_(report), before_(before), children_(report.metrics.size()) {
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    if (report.metrics[m].parent != cube::kNone) children_[report.metrics[m].parent].push_back(m);
  }
  const std::vector<double> totals = cube::totals(report);
  const std::vector<std::size_t> roots = cube::metric_roots(report);
  std::vector<double> row;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const double whole_run = std::abs(totals[roots[m]]);
    for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
      if (!exclusive(m, c, row)) continue;
      const auto [low, high] = std::minmax_element(row.begin(), row.end());
      const bool whole = std::all_of(row.begin(), row.end(),
                                     [](double value) { return value == std::trunc(value); });
      const double largest = std::max(std::abs(*low), std::abs(*high));
      rows_.push_back({static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(c), largest,
                       whole_run > 0 ? largest / whole_run : largest, *low < 0, *low == *high,
                       whole});
    }
  }
}

void Packer::add(const Report& from, std::size_t metric, std::size_t call_node, double factor,
                 std::vector<double>& out, double& scale) const {
  const std::span<const double> row = from.severities.row(metric, call_node);
  for (std::size_t i = 0; i < row.size(); ++i) {
    out[i] += factor * row[i];
    scale = std::max(scale, std::abs(row[i]));
  }
}

// False if all values are 0.
bool Packer::exclusive(std::size_t metric, std::size_t call_node, std::vector<double>& out) const {
  out.assign(report_.locations(), 0);
  double scale = 0;
  const auto add_all = [&](const Report& from, double sign) {
    add(from, metric, call_node, sign, out, scale);
    for (const std::size_t child : children_[metric]) {
      add(from, child, call_node, -sign, out, scale);
    }
  };
  add_all(report_, 1);
  if (before_ != nullptr) add_all(*before_, -1);
  bool any = false;
  for (double& value : out) {
    // What subtraction leaves of equal numbers in decimal digits is nothing.
    if (std::abs(value) <= 1e-10 * scale) value = 0;
    any = any || value != 0;
  }
  return any;
}

PackedSeverities Packer::encode(const std::vector<Kind>& wanted) const {
  std::vector<std::uint32_t> metrics, call_nodes;
  std::vector<std::uint8_t> kinds, eight;
  std::vector<std::uint16_t> sixteen;
  std::vector<double> scales, exact, values;
  PackedSeverities packed;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    exclusive(row.metric, row.call_node, values);
    metrics.push_back(row.metric);
    call_nodes.push_back(row.call_node);
    const Kind kind = row.constant && wanted[r] != Kind::kNone ? Kind::kConstant : wanted[r];
    packed.rows_left_out += kind == Kind::kNone ? 1 : 0;
    // Signed values use half of the range for each sign, so that 0 stays 0.
    const double steps =
        kind == Kind::kSixteen ? (row.negative ? 32767 : 65535) : (row.negative ? 127 : 255);
    const double scale = row.whole && row.largest <= steps ? 1 : row.largest / steps;
    // The kind's byte carries the sign in bit 7.
    kinds.push_back(static_cast<std::uint8_t>(static_cast<int>(kind) | (row.negative ? 0x80 : 0)));
    scales.push_back(kind == Kind::kConstant ? values[0] : scale);
    const auto rounded = [&](double value) {
      return static_cast<long>(std::lround(value / scale));
    };
    for (const double value : values) {
      if (kind == Kind::kDouble) exact.push_back(value);
      if (kind == Kind::kSixteen) sixteen.push_back(static_cast<std::uint16_t>(rounded(value)));
      if (kind == Kind::kEight) eight.push_back(static_cast<std::uint8_t>(rounded(value)));
    }
  }
  Blob blob;
  blob.planes("metrics", metrics);
  blob.planes("calls", call_nodes);
  blob.bytes("kinds", kinds);
  blob.planes("scales", scales);
  blob.planes("exact", exact);
  blob.planes("sixteen", sixteen);
  blob.bytes("eight", eight);
  packed.directory = blob.directory();
  packed.data = blob.compressed();
  packed.rows = rows_.size();
  packed.precision = !eight.empty()     ? (sixteen.empty() ? "8 bit" : "8 to 16 bit")
                     : !sixteen.empty() ? "16 bit"
                                        : "exact";
  return packed;
}

PackedSeverities Packer::pack(std::size_t max_bytes) const {
  const std::size_t cells = rows_.size() * report_.locations();
  struct Choice {
    Kind kind;
    std::size_t bytes;
  };
  for (const Choice choice : {Choice{Kind::kDouble, 8}, Choice{Kind::kSixteen, 2}}) {
    // Measured values hardly compress below a third: what is larger need not be tried.
    if (cells * choice.bytes > 3 * max_bytes) continue;
    PackedSeverities packed = encode(std::vector<Kind>(rows_.size(), choice.kind));
    if (packed.data.size() <= max_bytes) return packed;
  }
  return pack_rounded(max_bytes);
}

// Eight bits for all rows, sixteen for the largest where there is room, none for the smallest where
// there is not.
PackedSeverities Packer::pack_rounded(std::size_t max_bytes) const {
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows_[a].weight < rows_[b].weight; });
  std::vector<Kind> wanted(rows_.size(), Kind::kEight);
  PackedSeverities packed = encode(wanted);
  if (packed.data.size() <= max_bytes) {
    std::size_t spare = (max_bytes - packed.data.size()) / (report_.locations() + 1) * 95 / 100;
    for (auto r = order.rbegin(); r != order.rend() && spare > 0; ++r) {
      if (rows_[*r].constant) continue;
      wanted[*r] = Kind::kSixteen;
      --spare;
    }
    PackedSeverities finer = encode(wanted);
    return finer.data.size() <= max_bytes ? finer : packed;
  }
  std::size_t dropped = 0;
  while (packed.data.size() > max_bytes && dropped < order.size()) {
    // As many of the smallest rows as their average size suggests, and a few more.
    const double excess =
        1.02 - static_cast<double>(max_bytes) / static_cast<double>(packed.data.size());
    const auto count = static_cast<std::size_t>(
        std::ceil(std::max(0.02, excess) * static_cast<double>(order.size() - dropped)));
    for (std::size_t i = 0; i < count && dropped < order.size(); ++i) {
      wanted[order[dropped++]] = Kind::kNone;
    }
    packed = encode(wanted);
  }
  return packed;
}

}  // namespace

PackedSeverities pack_severities(const Report& report, const Report* before,
                                 std::size_t max_bytes) {
  return Packer(report, before).pack(max_bytes);
}

PackedSeverities pack_sums(const Report& report) {
  std::vector<std::uint32_t> metrics, call_nodes;
  std::vector<double> values;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const std::vector<double> sums = cube::call_path_sums(report, m);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      if (sums[c] == 0) continue;
      metrics.push_back(static_cast<std::uint32_t>(m));
      call_nodes.push_back(static_cast<std::uint32_t>(c));
      values.push_back(sums[c]);
    }
  }
  Blob blob;
  blob.planes("metrics", metrics);
  blob.planes("calls", call_nodes);
  blob.planes("values", values);
  PackedSeverities packed;
  packed.directory = blob.directory();
  packed.data = blob.compressed();
  packed.precision = "exact";
  packed.rows = values.size();
  return packed;
}

}  // namespace kojak::html
