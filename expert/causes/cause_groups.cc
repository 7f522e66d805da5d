// Causes put together: the part of CauseSolver that makes groups of them, and what GainsOfGroups
// keeps of these.
#include <algorithm>
#include <array>
#include <tuple>

#include "expert/causes/gains_of_groups.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

// Of all waiting, or of the run: a group that costs, or gains, less is worth no line. (rules.h says
// the same of causes; it stands above this room.)
constexpr int kWorthALine = 100;
constexpr int kSteps = 200;  // gains are compared in steps of half a per cent of the run

bool is_for_lock(MetricIndex metric) {
  static const std::array<MetricIndex, 4> kLocks{
      metric_index<RmaLockContention>(), metric_index<SyncLockContention>(),
      metric_index<OmpLockApiWait>(), metric_index<OmpCriticalWait>()};
  if (std::find(kLocks.begin(), kLocks.end(), metric) != kLocks.end()) return true;
  const Metric& of = all_metrics()[metric];
  const std::string_view rule = of.in_shmem.empty() ? of.name : of.in_shmem;
  return rule == ShmemLockContention::kMetric.name;
}

}  // namespace

CauseSolver::GainsOfGroups::GainsOfGroups(std::span<GroupOfAtoms> groups,
                                          const std::vector<CauseAtom>& atoms,
                                          std::size_t locations, Ticks run, Amount all)
    : run_(run), all_(all) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    add_thing(groups[g], g, false, atoms, locations);
  }
  constexpr std::size_t kWithParts = 3;
  for (std::size_t g = 0; g < std::min(groups.size(), kWithParts); ++g) {
    for (GroupOfAtoms& part : groups[g].parts) add_thing(part, g, true, atoms, locations);
  }
}

void CauseSolver::GainsOfGroups::add_thing(GroupOfAtoms& of, std::size_t group, bool part,
                                           const std::vector<CauseAtom>& atoms,
                                           std::size_t locations) {
  Thing thing{.of = &of, .group = group, .part = part};
  thing.waits.resize(locations);
  std::unordered_map<std::uint32_t, std::size_t> known;  // by cause
  for (const std::uint32_t a : of.atoms) {
    const CauseAtom& atom = atoms[a];
    const auto [use, added] = known.try_emplace(atom.cause, thing.uses.size());
    if (added) {
      thing.uses.push_back({atom.location, atom.id, 0, atom.part, atom.whole});
    } else {
      thing.uses[use->second].part += atom.part;
    }
  }
  things_.push_back(std::move(thing));
}

void CauseSolver::GainsOfGroups::add_uses(std::uint32_t first, LeftOutThings& left_out) const {
  for (std::size_t t = 0; t < things_.size(); ++t) {
    for (LeftOutThings::Use use : things_[t].uses) {
      use.thing = first + static_cast<std::uint32_t>(t);
      left_out.uses.push_back(use);
    }
    left_out.without_pairs.push_back(things_[t].part ? 1 : 0);
  }
}

void CauseSolver::GainsOfGroups::add(std::size_t thing, const ThingSums& sums) {
  Thing& t = things_[thing];
  t.begin = std::min(t.begin, sums.begin);
  for (const auto& [location, amount] : sums.waits) t.waits[location] += amount;
  for (const ThingSums::Pair& pair : sums.pairs) {
    t.pairs[std::uint64_t{pair.culprit} << 32 | pair.victim] += pair.amount;
  }
}

void CauseSolver::GainsOfGroups::find_shapes(Amount all) {
  for (Thing& t : things_) {
    CauseGroup& g = t.of->group;
    for (CauseGroup::Rank& r : g.ranks) {
      r.waits = t.waits[r.location];
      t.waits[r.location] = 0;
    }
    for (LocationIndex l = 0; l < t.waits.size(); ++l) {
      if (t.waits[l] > 0) g.ranks.push_back({l, 0, t.waits[l]});
    }
    std::sort(g.ranks.begin(), g.ranks.end(),
              [](const auto& a, const auto& b) { return a.location < b.location; });
    std::vector<PairOfGroup> pairs;
    const bool does = g.kind == Stretch::Kind::kComputing || g.kind == Stretch::Kind::kCall;
    for (const auto& [key, amount] : t.pairs) {
      if (does && amount > 0) {
        pairs.push_back(
            {static_cast<LocationIndex>(key >> 32), static_cast<LocationIndex>(key), amount});
      }
    }
    Amount for_locks = 0;
    for (const auto& [metric, amount] : g.direct_patterns) {
      if (is_for_lock(metric)) for_locks += amount;
    }
    find_shape(g, pairs, for_locks, all);
    for (std::size_t i = 0; i < g.odd && !t.part; ++i) {
      const CauseGroup::Unit& unit = g.units[i];
      t.odd.insert(t.odd.end(), unit.members.begin(), unit.members.end());
    }
    std::sort(t.odd.begin(), t.odd.end());
  }
}

std::size_t CauseSolver::GainsOfGroups::count_cases(std::size_t first) {
  std::size_t count = first;
  for (Thing& t : things_) {
    if (count < GainFinder::kMost) t.its_case = static_cast<std::uint32_t>(count++);
  }
  for (Thing& t : things_) {
    if (t.odd.empty() || count == GainFinder::kMost) continue;
    t.odd_case = static_cast<std::uint32_t>(count++);
  }
  return count;
}

GainCases::OfThing CauseSolver::GainsOfGroups::cases_alone(std::size_t thing) const {
  const Thing& t = things_[thing];
  const auto bit = [](std::uint32_t number) {
    return number == kNone ? 0 : std::uint32_t{1} << number;
  };
  return {bit(t.its_case), bit(t.odd_case), t.odd};
}

void CauseSolver::GainsOfGroups::take_alone(std::span<const Ticks> gains) {
  for (Thing& t : things_) {
    // (What follows from a faster answer is not known: those who serve are not replayed.)
    const bool known = t.of->group.kind != Stretch::Kind::kAnswering;
    if (t.its_case != kNone && known) t.of->group.gain = gains[t.its_case];
    if (t.odd_case != kNone) t.of->group.odd_gain = gains[t.odd_case];
  }
  for (std::size_t i = 0; i < things_.size(); ++i) {
    const CauseGroup& g = things_[i].of->group;
    const bool worth = g.amount * kWorthALine >= all_ || g.gain.value_or(0) * kWorthALine >= run_;
    if (!things_[i].part && worth) listed_.push_back(i);
  }
  const Ticks step = std::max<Ticks>(run_ / kSteps, 1);
  const auto in_steps = [&](const CauseGroup& g) { return (g.gain.value_or(0) + step / 2) / step; };
  std::sort(listed_.begin(), listed_.end(), [&](std::size_t x, std::size_t y) {
    const CauseGroup &a = things_[x].of->group, &b = things_[y].of->group;
    if (in_steps(a) != in_steps(b)) return in_steps(a) > in_steps(b);
    if (a.amount != b.amount) return a.amount > b.amount;
    return std::tuple(things_[x].begin, a.largest, a.stretch.place()) <
           std::tuple(things_[y].begin, b.largest, b.stretch.place());
  });
  if (listed_.empty() && !things_.empty()) listed_.push_back(0);  // the first always
  if (!listed_.empty()) {
    CauseGroup& g = things_[listed_.front()].of->group;
    g.cumulated = g.gain;
  }
}

std::uint32_t CauseSolver::GainsOfGroups::cases_cumulated(std::size_t thing) const {
  const auto at = std::find(listed_.begin(), listed_.end(), thing);
  if (at == listed_.end()) return 0;
  // The n-th is left out in the cases of n and more, which begin with that of two.
  const auto place = static_cast<std::size_t>(at - listed_.begin());
  std::uint32_t cases = 0;
  for (std::size_t c = 0; c < cumulated(); ++c) {
    if (place <= c + 1) cases |= std::uint32_t{1} << c;
  }
  return cases;
}

void CauseSolver::GainsOfGroups::take_cumulated(std::span<const Ticks> gains) {
  for (std::size_t c = 0; c < cumulated(); ++c) {
    things_[listed_[c + 1]].of->group.cumulated = gains[c];
  }
}

bool CauseSolver::GainsOfGroups::is_listed(std::size_t group) const {
  return std::find(listed_.begin(), listed_.end(), group) != listed_.end();
}

std::vector<CauseGroup> CauseSolver::GainsOfGroups::listed() {
  std::vector<CauseGroup> all;
  for (const std::size_t i : listed_) {
    GroupOfAtoms& of = *things_[i].of;
    for (GroupOfAtoms& part : of.parts) of.group.parts.push_back(std::move(part.group));
    all.push_back(std::move(of.group));
  }
  return all;
}

std::vector<CauseAtom> CauseSolver::list_atoms(std::span<const ListedCause> listed,
                                               const WhatIsDone& what) const {
  std::vector<CauseAtom> atoms;
  std::unordered_map<StretchId, std::shared_ptr<const DoneThere>> done;
  const double interval = what.sample_interval();
  for (const ListedCause& l : listed) {
    const CauseCost& cost = costs_[l.cost];
    CauseAtom atom{.cause = l.cost,
                   .location = cost.location,
                   .id = cost.stretch,
                   .stretch = stretches_[cost.stretch],
                   .longer = cost.longer,
                   .compared = cost.compared};
    std::shared_ptr<const DoneThere>& known = done[cost.stretch];
    if (known == nullptr) known = std::make_shared<const DoneThere>(what.of(atom.stretch));
    atom.done = known;
    for (const auto& [metric, sums] : cost.patterns) {
      atom.amount += sums.short_term + sums.long_term;
      atom.direct += sums.short_term;
    }
    const auto time = times_.find(std::uint64_t{atom.location} << 32 | atom.id);
    const double seconds = time == times_.end() ? 0 : time->second;
    for (CauseAtom& a : atoms_of(atom, {l.cause.sampled, interval, seconds}, what)) {
      atoms.push_back(std::move(a));
    }
  }
  name_by_calls(atoms, what);
  return atoms;
}

bool CauseSolver::find_groups(std::span<const ListedCause> listed, std::span<ListedCause> largest,
                              CauseGroups& results) {
  results.all = all_;
  results.not_attributed = unexplained_;
  for (const Ticks end : ends_) results.run = std::max(results.run, end);
  const WhatIsDone what(stretches_.library());
  const std::vector<CauseAtom> atoms = list_atoms(listed, what);
  std::vector<GroupOfAtoms> groups = put_together(atoms, what, all_);
  const auto add_patterns = [&](GroupOfAtoms& of) {
    std::map<MetricIndex, std::pair<Amount, Amount>> sums;
    std::map<std::pair<MetricIndex, CallPathIndex>, Amount> at;
    for (const std::uint32_t a : of.atoms) {
      const CauseAtom& atom = atoms[a];
      for (const auto& [metric, cost] : costs_[atom.cause].patterns) {
        auto& [direct, all] = sums[metric];
        direct += share_of(cost.short_term, atom.part, atom.whole);
        all += share_of(cost.short_term + cost.long_term, atom.part, atom.whole);
      }
      for (const auto& [place, amount] : costs_[atom.cause].at) {
        at[{place.metric, place.call_path}] += share_of(amount, atom.part, atom.whole);
      }
    }
    of.group.direct_at.assign(at.begin(), at.end());
    for (const auto& [metric, sum] : sums) {
      of.group.patterns.emplace_back(metric, sum.second);
      of.group.direct_patterns.emplace_back(metric, sum.first);
    }
    std::stable_sort(of.group.patterns.begin(), of.group.patterns.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  };
  const auto top = std::span(groups).first(std::min(groups.size(), GainsOfGroups::kMostGroups));
  for (GroupOfAtoms& g : top) {
    add_patterns(g);
    for (GroupOfAtoms& part : g.parts) add_patterns(part);
  }
  GainsOfGroups gains(top, atoms, ends_.size(), results.run, all_);
  if (!find_gains(largest, gains)) return false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (gains.is_listed(g)) continue;
    ++results.left_out;
    results.left_out_amount += groups[g].group.amount;
    results.left_out_most = std::max(results.left_out_most, groups[g].group.amount);
  }
  results.listed = gains.listed();
  return true;
}

bool CauseSolver::find_gains(std::span<ListedCause> causes, GainsOfGroups& groups) {
  if (causes.empty()) return true;
  // Causes have the first numbers, then those of the groups.
  LeftOutThings left_out;
  const auto before = static_cast<std::uint32_t>(causes.size());
  for (std::uint32_t i = 0; i < before; ++i) {
    left_out.uses.push_back({causes[i].cause.location, causes[i].cause.id, i, 1, 1});
  }
  left_out.without_pairs.resize(before);
  groups.add_uses(before, left_out);
  left_out.summed = before;
  left_out.things = static_cast<std::uint32_t>(left_out.without_pairs.size());
  const auto of_part = [&](std::size_t k) {
    CauseRequest request{.kind = CauseRequest::Kind::kLeaveOut, .left_out = left_out};
    std::erase_if(request.left_out.uses, [&](LeftOutThings::Use& use) {
      const auto known = parts_[k].in_part.find(use.stretch);
      if (known != parts_[k].in_part.end()) use.stretch = known->second;
      return known == parts_[k].in_part.end();
    });
    return request;
  };
  const auto add = [&](std::size_t, const CauseAnswer& answer) {
    for (std::size_t t = before; t < answer.things.size(); ++t) {
      groups.add(t - before, answer.things[t]);
    }
  };
  if (!ask(of_part, add)) return false;
  groups.find_shapes(all_);
  GainCases cases{.cases = groups.count_cases(causes.size())};
  for (std::uint32_t i = 0; i < before; ++i) cases.things.push_back({.all = std::uint32_t{1} << i});
  for (std::size_t t = 0; t < groups.things(); ++t) cases.things.push_back(groups.cases_alone(t));
  std::vector<Ticks> gains;
  if (!replay(cases, gains)) return false;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    RootCause& cause = causes[i].cause;
    if (cause.stretch.kind != Stretch::Kind::kAnswering) {
      cause.gain = in_seconds(Amount{gains[i]});
    }
  }
  groups.take_alone(gains);
  if (groups.cumulated() == 0) return true;
  cases = {.cases = groups.cumulated()};
  cases.things.resize(before);
  for (std::size_t t = 0; t < groups.things(); ++t) {
    cases.things.push_back({.all = groups.cases_cumulated(t)});
  }
  if (!replay(cases, gains)) return false;
  groups.take_cumulated(gains);
  return true;
}

// All that comes behind a part is earlier by what leaves it earlier.
bool CauseSolver::replay(const GainCases& cases, std::vector<Ticks>& gains) {
  gains.assign(GainFinder::kMost, 0);
  const CauseRequest request{.kind = CauseRequest::Kind::kReplay, .cases = cases};
  return ask([&](std::size_t) { return request; },
             [&](std::size_t, const CauseAnswer& answer) {
               for (std::size_t i = 0; i < answer.earlier.size(); ++i)
                 gains[i] += answer.earlier[i];
             });
}

void CauseSolver::number_causes(std::span<const ListedCause> listed, CauseGroups& groups) const {
  std::vector<std::uint32_t> place(costs_.size(), kNone);
  for (std::uint32_t i = 0; i < listed.size(); ++i) place[listed[i].cost] = i;
  const auto number = [&](auto&& self, CauseGroup& group) -> void {
    for (std::uint32_t& cause : group.causes) cause = place[cause];
    std::sort(group.causes.begin(), group.causes.end());
    for (CauseGroup& part : group.parts) self(self, part);
  };
  for (CauseGroup& group : groups.listed) number(number, group);
}

}  // namespace kojak::expert
