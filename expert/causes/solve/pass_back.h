// Backward in time: each wait passes its own time, and what it received from those who waited for
// it, to what the awaited one did and to what that one waited for itself.
//
// Delays and weights are taken from the end of their logs, so that they meet the waits that they
// are of. Memory: 32 bytes for each wait that has something to pass on at the same time. Used once.
// Not thread-safe; nothing fails.
#pragma once

#include <vector>

#include "expert/causes/cause_chains.h"
#include "expert/causes/solve/comparison.h"
#include "expert/causes/solve/delays.h"

namespace kojak::expert {

class PassBack {
 public:
  PassBack(CauseLog& log, const DelayLog& delays, GroupOrder& order, CauseLedger& ledger,
           DirectDelays& direct, CauseChains& chains)
      : log_(log),
        delays_(delays),
        order_(order),
        ledger_(ledger),
        direct_(direct),
        chains_(chains),
        within_left_(delays.pairs_within.size()),
        late_ones_left_(delays.late_ones.size()),
        pairs_left_(delays.pairs.size()),
        shares_left_(delays.shares.size()),
        received_(log.memory) {}
  void run();

 private:
  // A delay of the group looked at last.
  struct DelayInGroup {
    std::uint32_t late;    // its place in the arrivals
    std::uint32_t waiter;  // likewise, of a pair within the group
    Delay delay;
    Shares shares;
    Ticks waited;  // by charge()
  };
  struct Waiting {
    Amount own = 0, passed = 0;  // of those who wait here, and of those who waited for them
  };
  struct Received {
    Amount amount = 0;
    CauseChains::Via via;
    CauseChains::Link link_of(WaitId wait) const { return {wait, via.link.length + 1}; }
  };
  struct Rate {  // a waiter's amounts by the length of its wait
    double own = 0, passed = 0;
  };

  void pass_group(std::uint32_t index);
  // Passes on what a wait received: it receives no more then.
  Received take(WaitId wait);
  Received& received_of(WaitId wait);
  // The last delays and weights that were not taken yet.
  Delay take_pair(LocationIndex culprit, Ticks to, Shares& shares);
  Delay take_late_one(const CauseLog::Group& group, const GroupDelays& of, Shares& shares);
  void take_delays(const CauseLog::Group& group, const GroupDelays& of);
  Shares take_shares(std::uint32_t count) {
    shares_left_ -= count;
    return Shares(delays_.shares.data() + shares_left_, count);
  }
  // `what`: a place of those who wait. `via`: the one of them that waits most. Returns the weight
  // of the shares that are waits.
  Ticks charge(const Delay& delay, Shares shares, std::uint32_t what, Waiting waiting, WaitId wait,
               const CauseChains::Link& via);
  LocationIndex location_of(const CauseLog::WaitRecord& wait) const {
    return log_.places[wait.place].location;
  }
  static double indirect_part(const DelayInGroup& d) {
    return static_cast<double>(d.waited) / static_cast<double>(d.delay.whole);
  }
  void follow(WaitId wait, const Delay& delay, Shares shares);
  void follow_group(WaitId wait, std::size_t place);

  CauseLog& log_;
  const DelayLog& delays_;
  GroupOrder& order_;
  CauseLedger& ledger_;
  DirectDelays& direct_;
  CauseChains& chains_;
  // That were not taken yet.
  std::size_t within_left_, late_ones_left_, pairs_left_, shares_left_;
  LogVector<Received> received_;
  std::uint32_t unused_ =
      CauseLedger::kNone;  // the first of those in received_, each names the next
  // Kept for their memory only; the first four by place in a group.
  std::vector<Rate> rates_;
  std::vector<WaitId> waiters_;
  std::vector<Amount> to_pass_on_;
  std::vector<CauseChains::Link> links_;
  std::vector<DelayInGroup> group_delays_, pair_delays_;
  std::vector<double> indirect_, part_of_;
};

}  // namespace kojak::expert
