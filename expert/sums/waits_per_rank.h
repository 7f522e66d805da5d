// How many waits each location has.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/sums/setting.h"

namespace kojak::expert {

class WaitsPerRank {
 public:
  explicit WaitsPerRank(const Setting& setting) : counts_(setting.locations()) {}
  void on_wait(const Wait& wait) { ++counts_[wait.location]; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace kojak::expert
