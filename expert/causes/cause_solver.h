// Finds the causes of all waits of a run: asks those who have its parts what these cost (rounds.h),
// adds that up, lists causes, puts them together, and finds what the run would gain without them.
//
// A run that one process analyses is one part. Used once. Memory: distinct causes, and how long
// each location did each stretch. Not thread-safe; nothing fails but other processes.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expert/causes/cause_part.h"
#include "expert/causes/group_maker.h"
#include "expert/causes/solve/place_numbers.h"

namespace kojak::expert {

// Who have the parts of a run but the last one, which is the solver's own.
class CauseParts {
 public:
  virtual ~CauseParts() = default;
  virtual std::size_t others() const = 0;
  virtual void ask(std::size_t part, const CauseRequest& request) = 0;
  // False: there is no answer, and no use in asking on.
  virtual bool hear(std::size_t part, CauseAnswer& answer) = 0;
  // The number in the run of a part's call path; `part` is others(): of the solver's own.
  virtual CallPathIndex path(std::size_t part, CallPathIndex path) const = 0;
  // One process has to do it.
  virtual void give_up(const std::string& why) = 0;
};

class CauseSolver {
 public:
  // `log`: of `part`, the last one or the whole (`others` null). `most`: so much can be numbered.
  CauseSolver(const CauseLog& log, CausePart& part, CauseParts* others, std::size_t most)
      : log_(log),
        part_(part),
        others_(others),
        most_(most),
        parts_(others == nullptr ? 1 : others->others() + 1) {
    stretches_.use(&log.stretches.library());
  }
  // Of the run, where this part's do not know all of it.
  void use(const LibraryCalls* library) { stretches_.use(library); }
  // Nothing, where it had to give up.
  RootCauses solve(std::vector<CauseRequest::Asked> asked);

 private:
  // Times are listed of this many stretches, the most costly ones.
  static constexpr std::size_t kStretches = 1000;
  static constexpr std::uint32_t kNone = CauseLedger::kNone;
  // So many causes have a chain, and all of them of so many links together.
  static constexpr std::size_t kChains = 1000, kAllLinks = 100'000;
  static constexpr std::size_t kMostGains = 10;  // so many causes have one
  static constexpr std::size_t kKept = 16;       // objects, and calls, of a cause

  struct ListedCause {
    RootCause cause;
    std::uint32_t cost;  // its number
  };
  // How the numbers of a part and of the run belong together.
  struct OfPart {
    std::vector<StretchId> in_run;
    std::unordered_map<StretchId, StretchId> in_part;
  };

  // Asks all parts; take(part, answer) of the last one first. False: it has given up.
  bool ask(const std::function<CauseRequest(std::size_t)>& request_of,
           const std::function<void(std::size_t, CauseAnswer&)>& take);
  CallPathIndex path(std::size_t part, CallPathIndex path) const {
    return others_ == nullptr || path == kNoCallPath ? path : others_->path(part, path);
  }
  void add(std::size_t part, CauseSums& sums, RootCauses& results);
  void add(std::size_t part, CauseCost& cost);
  void number_stretches(std::size_t part, const std::vector<Stretch>& stretches);
  void here(std::size_t part, Chain& chain) const;
  bool list(RootCauses& results);
  // `wanted`: stretches, in the order in which they are listed.
  void list_times(RootCauses& results, const std::vector<StretchId>& wanted);
  void list_samples(std::span<ListedCause> listed, const std::vector<StretchId>& wanted) const;
  bool find_chains(std::span<ListedCause> listed);
  bool follow_critical_path(RootCauses& results);
  // In cause_groups.cc.
  class GainsOfGroups;
  bool find_groups(std::span<const ListedCause> listed, std::span<ListedCause> largest,
                   CauseGroups& results);
  std::vector<CauseAtom> list_atoms(std::span<const ListedCause> listed,
                                    const WhatIsDone& what) const;
  // The causes of groups get their places in the list instead of those among all.
  void number_causes(std::span<const ListedCause> listed, CauseGroups& groups) const;
  // What the run would gain without each of these, and without each and several of the groups.
  bool find_gains(std::span<ListedCause> causes, GainsOfGroups& groups);
  bool replay(const GainCases& cases, std::vector<Ticks>& gains);

  const CauseLog& log_;
  CausePart& part_;
  CauseParts* const others_;
  const std::size_t most_;
  std::vector<OfPart> parts_;  // in their order
  Stretches stretches_;        // of the run
  PlaceNumbers numbers_;       // of causes
  std::vector<CauseCost> costs_;
  std::vector<std::size_t> chain_in_;  // by cost: the part that has its chain
  std::vector<Ticks> ends_;            // by location
  Amount all_ = 0, unexplained_ = 0;
  std::vector<Amount> done_;                  // by stretch: of all locations, without waits
  std::vector<CauseSums::Time> done_by_all_;  // of it what each location did in each part
  std::map<StretchId, std::map<LocationIndex, Ticks>> done_by_;  // of those wanted
  std::array<std::uint64_t, 3> numbered_{};                      // CauseSums::numbered
  std::map<StretchId, std::map<LocationIndex, std::map<CallSiteId, std::uint64_t>>> samples_;
  std::map<std::pair<LocationIndex, CallPathIndex>, Amount> unexplained_at_;
  std::map<std::tuple<LocationIndex, CallPathIndex, MetricIndex>, std::pair<Amount, Amount>>
      waits_at_;
  std::unordered_map<std::uint64_t, double> times_;  // the wanted ones, by location and stretch
};

}  // namespace kojak::expert
