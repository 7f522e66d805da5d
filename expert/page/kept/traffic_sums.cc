#include "expert/page/kept/traffic_sums.h"

#include <algorithm>
#include <map>

#include "expert/page/thin.h"

namespace kojak::html {

std::size_t TrafficSums::Hash::operator()(const Key& key) const {
  const auto& [from, to, kind, on, region] = key;
  std::uint64_t hash = std::uint64_t{from} << 32 | to;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(kind), std::uint64_t{on}, std::uint64_t{region}}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  return hash;
}

// Operations of one kind mostly are between few processes.
Traffic& TrafficSums::sum_of(const Traffic& of) {
  Traffic cell{.from = of.from / ranks_per_block_,
               .to = of.to == Traffic::kNone ? of.to : of.to / ranks_per_block_,
               .kind = of.kind};
  if (by_function_) {
    cell.window = of.window;
    cell.region = of.region;
  }
  const std::uint32_t mixed = (cell.from * 37 + cell.to) * 8 +
                              static_cast<std::uint32_t>(cell.kind) + cell.window * 3 +
                              cell.region * 5;
  Traffic*& recent = recent_[mixed % recent_.size()];
  if (recent == nullptr || key(*recent) != key(cell)) {
    recent = &sums_.try_emplace(key(cell), cell).first->second;
  }
  return *recent;
}

void TrafficSums::take_back(const Traffic& cell, std::uint64_t amount, std::uint64_t count) {
  Traffic& sum = sum_of(cell);
  sum.amount -= std::min(sum.amount, amount);
  sum.count -= std::min(sum.count, count);
}

void TrafficSums::put(const std::vector<Traffic>& cells) {
  sums_.clear();
  recent_.fill(nullptr);
  for (const Traffic& cell : cells) {
    const auto [sum, first] = sums_.try_emplace(key(cell), cell);
    if (first) continue;
    sum->second.amount += cell.amount;
    sum->second.count += cell.count;
  }
}

void TrafficSums::coarsen() {
  TraceContent content;
  content.traffic_by_function = by_function_;
  content.ranks_per_block = ranks_per_block_;
  for (const auto& [known, cell] : sums_) content.traffic.push_back(cell);
  coarsen_traffic(content);
  by_function_ = content.traffic_by_function;
  ranks_per_block_ = content.ranks_per_block;
  put(content.traffic);
}

void TrafficSums::add(TrafficSums& behind, std::span<const std::uint32_t> paths) {
  const auto level = [](const TrafficSums& sums) {
    return std::pair(!sums.by_function_, sums.ranks_per_block_);
  };
  while (level(*this) < level(behind)) coarsen();
  while (level(behind) < level(*this)) behind.coarsen();
  std::vector<Traffic> cells;
  for (const auto& [known, cell] : sums_) cells.push_back(cell);
  for (auto [known, cell] : behind.sums_) {
    if (cell.region != Traffic::kNone && (cell.region & kOfPath) != 0) {
      cell.region = kOfPath | paths[cell.region & ~kOfPath];
    }
    cells.push_back(cell);
  }
  put(cells);
  make_fewer();
}

void TrafficSums::finish(std::span<const std::uint32_t> regions, std::uint32_t unknown,
                         TraceContent& content) {
  std::vector<Traffic> cells;
  for (auto [known, cell] : sums_) {
    if (cell.count == 0) continue;
    if (cell.region != Traffic::kNone && (cell.region & kOfPath) != 0) {
      const std::uint32_t path = cell.region & ~kOfPath;
      cell.region =
          path < regions.size() && regions[path] != unknown ? regions[path] : Traffic::kNone;
    }
    cells.push_back(cell);
  }
  put(cells);
  make_fewer();
  std::map<Key, Traffic> in_order;
  for (const auto& [known, cell] : sums_) in_order.emplace(known, cell);
  content.traffic.clear();
  for (const auto& [known, cell] : in_order) content.traffic.push_back(cell);
  content.traffic_by_function = by_function_;
  content.ranks_per_block = ranks_per_block_;
}

}  // namespace kojak::html
