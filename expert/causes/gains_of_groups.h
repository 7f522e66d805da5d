// The largest groups of causes, while CauseSolver finds what the run would gain without them: what
// of which cause is theirs, who waited for whom, and in which cases of GainFinder they are left
// out.
//
// A thing that is left out is a group or a part of one. Memory: the groups, a number for each
// location and thing, and each pair of a culprit and a victim. Not thread-safe; nothing fails.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "expert/causes/cause_solver.h"
#include "expert/causes/group_maker.h"

namespace kojak::expert {

class CauseSolver::GainsOfGroups {
 public:
  static constexpr std::size_t kMostGroups = 10;

  // Part `part` of `whole` of a cause is a thing's.
  struct Use {
    std::uint32_t thing;
    Ticks part, whole;
  };

  // `groups`: the largest, at most kMostGroups. `run`: when it ends.
  GainsOfGroups(std::span<GroupOfAtoms> groups, const std::vector<CauseAtom>& atoms,
                std::size_t costs, std::size_t locations, Ticks run, Amount all);

  std::size_t things() const { return things_.size(); }
  std::span<const Use> uses(std::uint32_t cost) const {
    const std::uint32_t at = uses_at_[cost];
    return at == kNone ? std::span<const Use>() : std::span<const Use>(uses_[at]);
  }
  void add_culprits(std::vector<bool>& culprits) const;
  void set_stretches(std::size_t thing, LocationIndex location, std::vector<bool>& stretches,
                     bool to) const;
  // So much of a delay is the thing's. Of those who waited for the last of a group note_group()
  // says who they are.
  void note(const CauseSolver& solver, std::size_t thing, const Delay& delay, Ticks weight,
            const DelayOf& of);
  void note_group(const CauseSolver& solver, const Group& group);

  // After all delays.
  void find_shapes(Amount all);
  // Cases of the first replay, which begin with number `first`: groups, parts, odd ones.
  std::size_t count_cases(std::size_t first);
  std::uint32_t cases_alone(std::size_t thing, LocationIndex location) const;
  void take_alone(std::span<const Ticks> gains);
  // Then: of the groups in their order, those worth a line, the first two, three and so on.
  std::size_t cumulated() const { return listed_.size() < 2 ? 0 : listed_.size() - 1; }
  std::uint32_t cases_cumulated(std::size_t thing) const;
  void take_cumulated(std::span<const Ticks> gains);

  // Those worth a line, in their order; what they were made of is moved.
  std::vector<CauseGroup> listed();
  bool is_listed(std::size_t group) const;

 private:
  struct Thing {
    GroupOfAtoms* of;
    std::size_t group;  // its place among the groups
    bool part;
    std::vector<std::pair<LocationIndex, StretchId>> stretches;  // sorted
    std::vector<Amount> waits;                                   // by location
    std::unordered_map<std::uint64_t, Amount> pairs;             // by culprit and victim
    Ticks begin = kNever;                                        // of its first delay
    std::uint32_t its_case = kNone, odd_case = kNone;
    std::vector<LocationIndex> odd;  // sorted
  };
  // Of the group of processes that is looked at: parts of delays that are a thing's.
  struct Late {
    std::size_t thing;
    std::uint32_t late, waiter;
    double part;
  };
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

  void add_thing(GroupOfAtoms& of, std::size_t group, bool part,
                 const std::vector<CauseAtom>& atoms, std::size_t locations);

  std::vector<Thing> things_;
  std::vector<std::uint32_t> uses_at_;  // by cost
  std::vector<std::vector<Use>> uses_;
  std::vector<Late> late_;
  std::vector<std::size_t> listed_;  // things that are groups, in their order
  Ticks run_;
  Amount all_;
};

}  // namespace kojak::expert
