// Finds what the waits of one part of a run cost, in stages of which each hands on what it found:
// waits get their places (here), Comparison goes forward over them, PassBack backward, CauseLedger
// has what came to whom; then the part is replayed without some causes (cause_part_gains.cc).
//
// A whole run is one part. Answers what rounds.h says, in that order. Memory: as its parts say. Not
// thread-safe; nothing fails.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "expert/causes/cause_chains.h"
#include "expert/causes/rounds.h"
#include "expert/causes/solve/comparison.h"

namespace kojak::expert {

class CausePart {
 public:
  explicit CausePart(CauseLog& log)
      : log_(log),
        timelines_(log.timelines),
        waits_(log.waits),
        delays_(log.memory),
        order_(log),
        ledger_(log),
        direct_(log, ledger_),
        chains_(log) {}
  CauseAnswer answer(const CauseRequest& request);

 private:
  using WaitRecord = CauseLog::WaitRecord;
  using Group = CauseLog::Group;
  using Known = CauseLog::Known;
  static constexpr std::uint32_t kNone = CauseLedger::kNone;
  static constexpr std::size_t kPiecesOfWait = CauseLog::kPiecesOfWait;

  struct TookLonger {
    Ticks from, to, longer;
    LocationIndex location;
  };

  void solve(std::span<const CauseRequest::Asked> asked, CauseSums& sums);
  // The log of the time between two moments: why it is none (CauseSums::why_apart).
  std::uint8_t cut();
  // Of those locations where not all waits have their places.
  void place_anew();
  void order_moments();
  void list_costs(CauseSums& sums) const;
  void list_times(CauseSums& sums) const;
  void list_samples(CauseSums& sums) const;
  LocationIndex location_of(const WaitRecord& wait) const {
    return log_.places[wait.place].location;
  }
  PathOfPart follow_path(const PathPlace& from) const;

  // In cause_part_gains.cc, as what follows.
  class SumsOfThings;
  void leave_out(const LeftOutThings& things, std::vector<ThingSums>& sums);
  std::vector<Ticks> replay(const GainCases& cases);
  // Whom a delay is for: a wait, or of those who waited for the last of a group one, or all that
  // came before the late one.
  struct DelayOf {
    const Moment& item;
    std::uint32_t late = kNone, waiter = kNone;  // places in the order of their group
  };
  // f(delay, shares, DelayOf) of all delays of these culprits; after_group(group) when those of one
  // are told, and the order still is of it.
  template <class F, class G>
  void each_delay(const std::vector<bool>& culprits, F&& f, G&& after_group);
  // Every instance of these stretches is shortened by what they took longer in these times.
  void shorten(LocationIndex location, const std::vector<bool>& stretches,
               std::span<TookLonger> times, LogVector<GainFinder::LeftOut>& left_out);
  void replay_calls(GainFinder& gains);
  // When it has done its work: what a thread of a team is left with behind that is no work.
  Ticks end_of_work(LocationIndex location) const;

  CauseLog& log_;
  std::vector<Timeline>& timelines_;
  LogVector<WaitRecord>& waits_;
  DelayLog delays_;
  GroupOrder order_;
  CauseLedger ledger_;
  DirectDelays direct_;
  CauseChains chains_;
  std::optional<GainFinder> gains_;
};

}  // namespace kojak::expert
