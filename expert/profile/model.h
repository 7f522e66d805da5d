// A CUBE 3 report in memory: metric tree, call tree, system tree, topologies and severities.
//
// What the page generator and the commands kojak html, info, stat, diff work on; reader.h fills it.
// All trees are vectors in document order, a parent before its children, so that one backward pass
// sums subtrees up. Severities are kept as the file has them: inclusive along metrics, exclusive
// along call paths; a row over the locations only where one is written. Plain values that own all
// they hold; reading from several threads is safe, changing is not. Source: docs/report.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kojak::cube {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Metric {
  std::size_t parent = kNone;
  std::string title;  // disp_name: "Late Sender"
  std::string name;   // uniq_name: "mpi_latesender"
  std::string type;   // FLOAT or INTEGER
  std::string unit;   // sec, occ, bytes, rate or empty
  std::string url;
  std::string description;
};

struct Region {
  std::string name;
  std::string module;  // file or library
  std::string url;
  std::string description;
  long begin = -1;
  long end = -1;
};

struct CallNode {
  std::size_t parent = kNone;
  std::size_t region = 0;  // index into Report::regions
  long line = -1;          // of the call, -1 if unknown
  std::string module;      // file of the call
};

enum class SystemKind : std::uint8_t { kMachine, kNode, kProcess, kThread };

struct SystemNode {
  std::size_t parent = kNone;
  SystemKind kind = SystemKind::kMachine;
  std::string name;
  long rank = -1;                // of a process, number of a thread; -1 if none
  std::size_t location = kNone;  // of a thread: its column in the severities
};

struct Topology {
  struct Dimension {
    std::string name;
    long size = 0;
    bool periodic = false;
  };
  struct Point {
    std::size_t system_node = 0;
    std::vector<long> coordinates;
  };
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<Point> points;
};

// Rows of severities over the locations, for the pairs of metric and call path that have one.
class Severities {
 public:
  void set_locations(std::size_t locations) { locations_ = locations; }
  std::size_t locations() const { return locations_; }
  std::size_t rows() const { return index_.size(); }

  // Empty if the file has no row: all values are 0.
  std::span<const double> row(std::size_t metric, std::size_t call_node) const;
  // The row to be filled in, all 0 at first. Invalidates what row() returned before.
  std::span<double> add_row(std::size_t metric, std::size_t call_node);
  // Calls `use(metric, call_node, row)` for every row, in the order in which they were added.
  template <class Use>
  void for_each_row(Use use) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::uint64_t k = keys_[i];
      use(static_cast<std::size_t>(k >> 32), static_cast<std::size_t>(k & 0xFFFFFFFF),
          std::span<const double>(values_.data() + i * locations_, locations_));
    }
  }

 private:
  static std::uint64_t key(std::size_t metric, std::size_t call_node) {
    return static_cast<std::uint64_t>(metric) << 32 | call_node;
  }
  std::size_t locations_ = 0;
  // Where a row starts in values_. By key, so that memory follows what a file holds and not the
  // product of what it declares.
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<std::uint64_t> keys_;  // of the rows in values_
  std::vector<double> values_;
};

struct Report {
  std::string file;     // where it was read from, for messages
  std::string version;  // "3.0"
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> mirrors;
  std::vector<Metric> metrics;
  std::vector<Region> regions;
  std::vector<CallNode> call_nodes;
  std::vector<SystemNode> system;
  std::vector<std::size_t> threads;  // system node of each location
  std::vector<Topology> topologies;
  Severities severities;
  std::vector<std::string> warnings;  // what was strange but could be read

  std::size_t locations() const { return threads.size(); }
  std::size_t find_metric(std::string_view name) const;  // kNone if there is none
  const std::string& region_name(std::size_t call_node) const {
    return regions[call_nodes[call_node].region].name;
  }
  // "main / exchange / MPI_Put", outermost first.
  std::string call_path(std::size_t call_node) const;
  // Where the call stands: "halo.c:118"; empty if the report does not know.
  std::string call_site(std::size_t call_node) const;
  // "rank 3", or "rank 3, thread 1" where a process has several threads.
  std::string location_name(std::size_t location) const;
};

}  // namespace kojak::cube
