// Where amounts of waiting end: at causes, or unexplained; and what of each wait was for what the
// one awaited did itself, and what for its own waiting.
//
// Memory: distinct causes, and places of waits. Not thread-safe; nothing fails.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "expert/causes/cause_chains.h"
#include "expert/causes/log.h"
#include "expert/causes/rounds.h"
#include "expert/causes/solve/place_numbers.h"

namespace kojak::expert {

class CauseLedger {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  using Cost = CauseCost::Sums;
  // Of a cause that is one at more windows or calls of others, some are left out.
  static constexpr std::size_t kKept = 256;
  struct LongerUntil {
    Ticks to, longer;  // until then, of all
  };
  struct Sums {
    LocationIndex location = 0;
    StretchId stretch = 0;
    std::vector<std::pair<MetricIndex, Cost>> patterns;
    std::vector<std::pair<std::uint32_t, Amount>> objects;  // by a place of waits there
    std::vector<std::pair<std::uint32_t, Amount>> at;       // by pattern and call path, likewise
    std::uint32_t latest_object = 0, latest_at = 0;         // of these, added to last
    CauseChains::Via via;
    Ticks from = 0, to = 0;  // the interval in which it is to blame for `via`
    Ticks longer = 0;
    std::vector<LongerUntil> counted;  // the latest parts of `longer`
    bool compared = false;
  };

  explicit CauseLedger(CauseLog& log)
      : log_(log), all_(log.not_listed), unexplained_(log.not_listed) {}

  // Once, when all stretches of the timelines have their numbers: those of the calls that wait.
  void number_calls() {
    of_place_.resize(log_.places.size());
    for (std::size_t p = 0; p < log_.places.size(); ++p) {
      of_place_[p].call = log_.stretches.call(log_.places[p].call_path);
    }
  }
  // The stretch of the call that waits.
  StretchId call_of(const CauseLog::WaitRecord& wait) const { return of_place_[wait.place].call; }
  std::uint32_t cost_of(LocationIndex location, StretchId stretch) {
    const std::uint32_t number = cost_numbers_.number(location, stretch);
    if (number == costs_.size()) {
      costs_.emplace_back();
      costs_.back().location = location;
      costs_.back().stretch = stretch;
    }
    return number;
  }
  // The cost of the call that waited.
  std::uint32_t cost_of_call(WaitId wait) {
    const std::uint32_t place = log_.waits[wait].place;
    PlaceSums& of = of_place_[place];
    if (of.cost == kNone) of.cost = cost_of(log_.places[place].location, of.call);
    return of.cost;
  }
  std::size_t size() const { return costs_.size(); }
  Sums& operator[](std::uint32_t cost) { return costs_[cost]; }
  const Sums& operator[](std::uint32_t cost) const { return costs_[cost]; }

  void note_longer(std::uint32_t cost, Ticks from, Ticks to, Ticks longer, bool compared);
  static Cost& of_pattern(std::vector<std::pair<MetricIndex, Cost>>& patterns, MetricIndex metric);
  // `what`: a place of those who wait for it themselves.
  void add_direct(Sums& cost, std::uint32_t what, Amount amount);
  void add_wait(Ticks length) { all_ += length; }
  void leave_unexplained(WaitId wait, Amount amount);
  // Of a wait: how much of it was for waits of the one it was for.
  void note_indirect(WaitId wait, Ticks indirect);
  // Of a wait of a dispatcher: for how much of it others waited.
  void note_passed_by_idle(WaitId wait, Ticks passed) { passed_by_idle_[wait] = passed; }
  Ticks passed_by_idle(WaitId wait) const {
    const auto known = passed_by_idle_.find(wait);
    return known == passed_by_idle_.end() ? 0 : known->second;
  }

  void list(CauseSums& sums) const;
  // Some of what add_direct() tells was left out.
  bool left_out() const { return left_out_; }

 private:
  struct WaitShare {
    MetricIndex metric;
    Amount direct, indirect;
  };
  // What is known of a place of waits, and where its sums stand.
  struct PlaceSums {
    StretchId call = 0;  // that waits
    std::uint32_t cost = kNone, unexplained = kNone, waits = kNone, row = kNone;
  };

  CauseLog& log_;
  PlaceNumbers cost_numbers_, unexplained_numbers_, waits_numbers_;
  std::vector<PlaceSums> of_place_;  // by place of waits
  std::vector<Sums> costs_;
  std::vector<Amount> unexplained_at_;
  std::vector<std::vector<WaitShare>> waits_at_;
  std::unordered_map<WaitId, Ticks> passed_by_idle_;  // no more than their lengths
  Amount all_, unexplained_;
  bool left_out_ = false;
};

}  // namespace kojak::expert
