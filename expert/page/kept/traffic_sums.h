// What passed between processes, added up by kind, window and function.
//
// If that is too many cells, they are no longer told apart by window and function, and then by
// ranks, twice as many in one each time (thin.h). Sums are integers. Not thread-safe; nothing
// fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "expert/page/trace_content.h"

namespace kojak::html {

class TrafficSums {
 public:
  // A function that only the call path tells.
  static constexpr std::uint32_t kOfPath = 1U << 31;

  TrafficSums(std::size_t limit, std::uint32_t processes) : limit_(limit), processes_(processes) {}

  // `cell`: from, to, kind, window and region.
  void add(const Traffic& cell, std::uint64_t amount) {
    if (sums_.size() > limit_) make_fewer();
    Traffic& sum = sum_of(cell);
    sum.amount += amount;
    ++sum.count;
  }
  // What was added and does not count.
  void take_back(const Traffic& cell, std::uint64_t amount, std::uint64_t count);
  // The part of the run behind this one; its call path p is paths[p] here.
  void add(TrafficSums& behind, std::span<const std::uint32_t> paths);
  template <class Archive>
  void visit(Archive& archive) {
    std::vector<Traffic> cells;
    for (const auto& [key, cell] : sums_) cells.push_back(cell);
    archive(by_function_, ranks_per_block_, cells);
    if constexpr (Archive::kReads) put(cells);
  }
  // With the function of each; regions[p] is that of call path p, or `unknown`.
  void finish(std::span<const std::uint32_t> regions, std::uint32_t unknown, TraceContent& content);

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, TrafficKind, std::uint32_t, std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static Key key(const Traffic& cell) {
    return {cell.from, cell.to, cell.kind, cell.window, cell.region};
  }
  bool can_be_fewer() const { return by_function_ || ranks_per_block_ < processes_; }
  Traffic& sum_of(const Traffic& cell);
  void put(const std::vector<Traffic>& cells);
  void coarsen();
  void make_fewer() {
    while (sums_.size() > limit_ && can_be_fewer()) coarsen();
  }

  std::size_t limit_;
  std::uint32_t processes_;
  bool by_function_ = true;
  std::uint32_t ranks_per_block_ = 1;
  std::unordered_map<Key, Traffic, Hash> sums_;
  std::array<Traffic*, 256> recent_{};
};

}  // namespace kojak::html
