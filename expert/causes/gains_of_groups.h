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

  // `groups`: the largest, at most kMostGroups. `run`: when it ends.
  GainsOfGroups(std::span<GroupOfAtoms> groups, const std::vector<CauseAtom>& atoms,
                std::size_t locations, Ticks run, Amount all);

  std::size_t things() const { return things_.size(); }
  // Of each thing, with numbers from `first` on.
  void add_uses(std::uint32_t first, LeftOutThings& left_out) const;
  // What a part of the run found of it.
  void add(std::size_t thing, const ThingSums& sums);

  // After all delays.
  void find_shapes(Amount all);
  // Cases of the first replay, which begin with number `first`: groups, parts, odd ones.
  std::size_t count_cases(std::size_t first);
  GainCases::OfThing cases_alone(std::size_t thing) const;
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
    std::vector<LeftOutThings::Use> uses;
    std::vector<Amount> waits;                        // by location
    std::unordered_map<std::uint64_t, Amount> pairs;  // by culprit and victim
    Ticks begin = ThingSums::kNever;                  // of its first delay
    std::uint32_t its_case = kNone, odd_case = kNone;
    std::vector<LocationIndex> odd;  // sorted
  };

  void add_thing(GroupOfAtoms& of, std::size_t group, bool part,
                 const std::vector<CauseAtom>& atoms, std::size_t locations);

  std::vector<Thing> things_;
  std::vector<std::size_t> listed_;  // things that are groups, in their order
  Ticks run_;
  Amount all_;
};

}  // namespace kojak::expert
