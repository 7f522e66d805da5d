// Finds the master of a UPC program among its waits: the thread for which the others wait longest,
// and what it waits for them (Late Master, Idle Master).
//
// A consumer; told of each wait that counts. Memory: call paths x threads x those that they waited
// for. Not thread-safe; nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "expert/metrics/amount.h"
#include "expert/sums/setting.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class UpcMasters {
 public:
  explicit UpcMasters(const Setting& setting) : locations_(setting.locations()) {}

  void on_begin(Seconds first) { first_ = first; }
  void on_wait(const Wait& wait) {
    if (kRules[wait.metric] != 0) [[unlikely]]
      note(wait);
  }
  void on_end(Seconds last) { last_ = last; }
  // When all waits have been told.
  void finish(SeverityStore& severities) const;

 private:
  // For whom a wait counts: bit 0 for the workers, bit 1 for the master.
  static const std::span<const std::uint8_t> kRules;
  void note(const Wait& wait);

  struct Where {
    LocationIndex awaited = 0;
    CallPathIndex path = 0;
    LocationIndex location = 0;
    auto operator<=>(const Where&) const = default;
  };
  std::size_t locations_;
  Seconds first_, last_;
  std::map<Where, TimeSum> late_, idle_;
};

}  // namespace kojak::expert
