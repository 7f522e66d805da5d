// Which rank a process has in a group: direct where the group is 0..n-1, else by binary search.
//
// Made once for a communicator; later objects with equal lists may share it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::earl::detail {

class RankIndex {
 public:
  RankIndex() = default;
  explicit RankIndex(const CommDef& comm) {
    for (const std::uint32_t rank : comm.ranks) add(rank);
    for (const std::uint32_t rank : comm.remote) add(rank);
    if (!identity_) std::sort(pairs_.begin(), pairs_.end());
  }
  std::uint32_t size() const { return size_; }
  // kAbsent if the process is no member.
  std::uint32_t find(ProcessId process) const {
    const std::uint32_t p = raw(process);
    if (identity_) return p < size_ ? p : kAbsent;
    const auto it = std::lower_bound(pairs_.begin(), pairs_.end(), p,
                                     [](const Pair& a, std::uint32_t b) { return a.world < b; });
    return it != pairs_.end() && it->world == p ? it->rank : kAbsent;
  }

 private:
  struct Pair {
    std::uint32_t world, rank;
    bool operator<(const Pair& o) const {
      return world < o.world || (world == o.world && rank < o.rank);
    }
  };
  void add(std::uint32_t world) {
    if (identity_ && world != size_) {
      identity_ = false;
      for (std::uint32_t i = 0; i < size_; ++i) pairs_.push_back({i, i});
    }
    if (!identity_) pairs_.push_back({world, size_});
    ++size_;
  }
  std::vector<Pair> pairs_;
  std::uint32_t size_ = 0;
  bool identity_ = true;
};

}  // namespace kojak::earl::detail
