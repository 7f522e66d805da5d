// Finds the causes of all waits of a run, in stages of which each hands on what it found: waits get
// their places (here), Comparison goes forward over them, PassBack backward, CauseLedger has what
// came to whom; then causes are listed, put together, and replayed without (cause_gains.cc).
//
// Used once. Memory: as its parts say. Not thread-safe; nothing fails.
#pragma once

#include <span>
#include <unordered_map>

#include "expert/causes/cause_chains.h"
#include "expert/causes/group_maker.h"
#include "expert/causes/solve/comparison.h"

namespace kojak::expert {

class CauseSolver {
 public:
  explicit CauseSolver(CauseLog& log)
      : log_(log),
        timelines_(log.timelines),
        waits_(log.waits),
        delays_(log.memory),
        order_(log),
        ledger_(log),
        direct_(log, ledger_),
        chains_(log) {}
  RootCauses solve(std::span<const CauseLog::Asked> asked);

 private:
  using WaitRecord = CauseLog::WaitRecord;
  using Group = CauseLog::Group;
  using Known = CauseLog::Known;

  // Times are kept for this many stretches, the most costly ones.
  static constexpr std::size_t kStretches = 1000;
  static constexpr std::uint32_t kNone = CauseLedger::kNone;
  // So many causes have a chain, and all of them of so many links together.
  static constexpr std::size_t kChains = 1000, kAllLinks = 100'000;
  static constexpr std::size_t kMostGains = 10;  // so many causes have one
  static constexpr std::size_t kPiecesOfWait = CauseLog::kPiecesOfWait;

  struct TookLonger {
    Ticks from, to, longer;
    LocationIndex location;
  };
  struct ListedCause {
    RootCause cause;
    std::uint32_t cost;  // its number in the ledger
  };

  // Of those locations where not all waits have their places.
  void place_anew();
  void order_moments();
  LocationIndex location_of(const WaitRecord& wait) const {
    return log_.places[wait.place].location;
  }
  void list(RootCauses& results);
  // `wanted`: stretches, in the order in which they are listed.
  using Doers = std::unordered_map<StretchId, std::size_t>;  // how many locations do it
  Doers list_times(RootCauses& results, const std::vector<StretchId>& wanted);
  void list_samples(std::span<ListedCause> listed, const Doers& doers) const;
  // In cause_groups.cc.
  class GainsOfGroups;
  void find_groups(std::span<const ListedCause> listed, std::span<ListedCause> largest,
                   CauseGroups& results);
  std::vector<CauseAtom> list_atoms(std::span<const ListedCause> listed,
                                    const WhatIsDone& what) const;
  // The causes of groups get their places in the list instead of those in the ledger.
  void number_causes(std::span<const ListedCause> listed, CauseGroups& groups) const;
  // What the run would gain without each of these, and without each and several of the groups.
  // In cause_gains.cc, as what follows.
  void find_gains(std::span<ListedCause> causes, GainsOfGroups& groups);
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
  void replay(GainFinder& gains);
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
  std::vector<Amount> done_;                         // by stretch: of all locations, without waits
  std::unordered_map<std::uint64_t, double> times_;  // the wanted ones, by location and stretch
};

}  // namespace kojak::expert
