// Forward in time: each culprit is compared with those who waited for it, since they stood together
// last. What it did longer, or waited longer in, gets the weights of a delay.
//
// Where the trace shows what the awaited one did during the wait nothing needs to be kept of it:
// that is found anew each time (DirectDelays), since that takes less. Not thread-safe; nothing
// fails.
#pragma once

#include <vector>

#include "expert/causes/solve/activity.h"
#include "expert/causes/solve/delays.h"
#include "expert/causes/solve/group_order.h"
#include "expert/causes/solve/ledger.h"

namespace kojak::expert {

class DirectDelays {
 public:
  DirectDelays(CauseLog& log, CauseLedger& ledger) : log_(log), ledger_(ledger) {}
  // note(cost, begin, end) for each of its shares that is no wait.
  template <class Note>
  Delay of(const CauseLog::WaitRecord& wait, Note&& note);
  // Of that one.
  Shares shares() const { return shares_; }

 private:
  CauseLog& log_;
  CauseLedger& ledger_;
  std::vector<Share> shares_;
};

class Comparison {
 public:
  Comparison(CauseLog& log, DelayLog& delays, GroupOrder& order, CauseLedger& ledger,
             DirectDelays& direct)
      : log_(log), delays_(delays), order_(order), ledger_(ledger), direct_(direct) {}

  // All moments, in their order.
  void run();

 private:
  struct Culprit {
    LocationIndex location;
    Ticks from, to;  // the interval in which it is compared
    Ticks late_by;   // than those who waited, on the average
  };

  void compare_single(WaitId number);
  void compare_group(std::uint32_t index);
  void compare_pair(const ArrivalRecord& waiter, const ArrivalRecord& late, Ticks since);
  // A delay of what the culprit does more than those who waited did: its weights are added.
  template <class Those>
  Delay delay_of(const Culprit& culprit, const Activity& activity, const Those& those);
  LocationIndex location_of(const CauseLog::WaitRecord& wait) const {
    return log_.places[wait.place].location;
  }
  Ticks bounded(LocationIndex location, Ticks since, Ticks to) const {
    return log_.timelines[location].bounded(since, to, CauseLog::kMostPieces);
  }

  CauseLog& log_;
  DelayLog& delays_;
  GroupOrder& order_;
  CauseLedger& ledger_;
  DirectDelays& direct_;
  bool idle_ = false;  // a dispatcher's wait is compared
  // Kept for their memory only.
  Activity activity_, late_, waiter_;
  ActivityOfWaiters all_waiters_, excepted_;
  ActivityOfOne pair_;
  struct OfFunction {
    Ticks time = 0;
    double longer = 0;  // of stretches that took longer
  };
  std::vector<OfFunction> of_function_;  // all zero in between
  std::vector<double> longer_;           // by part of the activity looked at
  struct OfCall {
    double all = 0, more = 0;
  };
  std::vector<OfCall> of_call_;  // by stretch
  std::vector<CommonMoments::Partner> partners_;
  std::vector<WaitId> waiters_;
  std::vector<double> weights_;  // of waiters: their waits by how much they were earlier
};

template <class Note>
Delay DirectDelays::of(const CauseLog::WaitRecord& wait, Note&& note) {
  Ticks sum = 0;
  shares_.clear();
  const bool serves = wait.known == CauseLog::Known::kService;
  log_.doing(wait.by, wait.known)
      .each(wait.begin, wait.end, [&](const Piece& piece, Ticks begin, Ticks end) {
        const bool to_wait = piece.wait != kNoWait;
        const Stretch& stretch = log_.stretches[piece.stretch];
        if (!to_wait && stretch.kind == Stretch::Kind::kOverhead) return;
        if (serves && !log_.answers_another(stretch, wait)) return;
        const std::uint32_t target = to_wait ? piece.wait : ledger_.cost_of(wait.by, piece.stretch);
        shares_.push_back({target, to_wait, end - begin});
        sum += end - begin;
        if (!to_wait) note(target, begin, end);
      });
  log_.rest_after(shares_.size() + CauseLog::kPiecesOfWait);
  return {wait.begin, wait.end, std::max({wait.length, sum, Ticks{1}}), wait.by,
          static_cast<std::uint32_t>(shares_.size())};
}

}  // namespace kojak::expert
