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
                                          const std::vector<CauseAtom>& atoms, std::size_t costs,
                                          std::size_t locations, Ticks run, Amount all)
    : uses_at_(costs, kNone), run_(run), all_(all) {
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
  const auto number = static_cast<std::uint32_t>(things_.size());
  for (const std::uint32_t a : of.atoms) {
    const CauseAtom& atom = atoms[a];
    thing.stretches.emplace_back(atom.location, atom.id);
    std::uint32_t& at = uses_at_[atom.cause];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(uses_.size());
      uses_.emplace_back();
    }
    std::vector<Use>& uses = uses_[at];
    if (!uses.empty() && uses.back().thing == number) {
      uses.back().part += atom.part;
    } else {
      uses.push_back({number, atom.part, atom.whole});
    }
  }
  std::sort(thing.stretches.begin(), thing.stretches.end());
  things_.push_back(std::move(thing));
}

void CauseSolver::GainsOfGroups::add_culprits(std::vector<bool>& culprits) const {
  for (const Thing& t : things_) {
    for (const auto& [location, stretch] : t.stretches) culprits[location] = true;
  }
}

void CauseSolver::GainsOfGroups::set_stretches(std::size_t thing, LocationIndex location,
                                               std::vector<bool>& stretches, bool to) const {
  const auto& all = things_[thing].stretches;
  auto at = std::lower_bound(all.begin(), all.end(), std::pair(location, StretchId{0}));
  for (; at != all.end() && at->first == location; ++at) stretches[at->second] = to;
}

void CauseSolver::GainsOfGroups::note(const CauseSolver& solver, std::size_t thing,
                                      const Delay& delay, Ticks weight, const DelayOf& of) {
  Thing& t = things_[thing];
  t.begin = std::min(t.begin, delay.from);
  if (of.item.group()) {
    const double part = static_cast<double>(weight) / static_cast<double>(delay.whole);
    late_.push_back({thing, of.late, of.waiter, part});
    return;
  }
  const WaitRecord& wait = solver.waits_[of.item.index()];
  const LocationIndex victim = solver.location_of(wait);
  const Amount amount = share_of(solver.log_.own(wait), weight, delay.whole);
  t.waits[victim] += amount;
  if (!t.part) t.pairs[std::uint64_t{delay.culprit} << 32 | victim] += amount;
}

void CauseSolver::GainsOfGroups::note_group(const CauseSolver& solver, const Group& group) {
  if (late_.empty()) return;
  const std::vector<ArrivalRecord>& arrivals = solver.order_.arrivals();
  const std::vector<double>& places = solver.order_.shares();
  std::stable_sort(late_.begin(), late_.end(),
                   [](const Late& a, const Late& b) { return a.thing < b.thing; });
  std::vector<double> of(arrivals.size());
  for (std::size_t first = 0; first < late_.size();) {
    const std::size_t thing = late_[first].thing;
    std::size_t last = first;
    std::fill(of.begin(), of.end(), 0.0);
    for (; last < late_.size() && late_[last].thing == thing; ++last) {
      if (late_[last].waiter == kNone) of[late_[last].late] += late_[last].part;
    }
    // Of those who waited: how much of a second of theirs, between their coming and the last's.
    std::vector<double> waits(arrivals.size());
    double parts = 0, further = 0;
    for (std::size_t i = arrivals.size(); i-- > 0;) {
      waits[i] = further - parts * places[i];
      parts += of[i];
      further += of[i] * places[i];
    }
    for (std::size_t e = first; e < last; ++e) {
      const Late& l = late_[e];
      if (l.waiter != kNone)
        waits[l.waiter] += (l.part - of[l.late]) * (places[l.late] - places[l.waiter]);
    }
    for (WaitId w = group.first_wait; w < group.waits_end; ++w) {
      const WaitRecord& wait = solver.waits_[w];
      const std::size_t place = solver.order_.place_of(solver.location_of(wait));
      if (place == kNone || place >= arrivals.size() || arrivals[place].time >= group.last)
        continue;
      const double rate =
          static_cast<double>(wait.length) / static_cast<double>(group.last - arrivals[place].time);
      things_[thing].waits[arrivals[place].location] +=
          std::max<Ticks>(nearest_whole(rate * waits[place]), 0);
    }
    first = last;
  }
  late_.clear();
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

std::uint32_t CauseSolver::GainsOfGroups::cases_alone(std::size_t thing,
                                                      LocationIndex location) const {
  const Thing& t = things_[thing];
  const auto bit = [](std::uint32_t number) {
    return number == kNone ? 0 : std::uint32_t{1} << number;
  };
  const bool odd = std::binary_search(t.odd.begin(), t.odd.end(), location);
  return bit(t.its_case) | (odd ? bit(t.odd_case) : 0);
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
    const CauseLedger::CauseSums& cost = ledger_[l.cost];
    CauseAtom atom{.cause = l.cost,
                   .location = cost.location,
                   .id = cost.stretch,
                   .stretch = log_.stretches[cost.stretch],
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

void CauseSolver::find_groups(std::span<const ListedCause> listed, std::span<ListedCause> largest,
                              CauseGroups& results) {
  results.all = ledger_.all();
  results.not_attributed = ledger_.unexplained();
  for (const Timeline& timeline : timelines_) results.run = std::max(results.run, timeline.end());
  const WhatIsDone what(log_.stretches.library());
  const std::vector<CauseAtom> atoms = list_atoms(listed, what);
  std::vector<GroupOfAtoms> groups = put_together(atoms, what, ledger_.all());
  const auto add_patterns = [&](GroupOfAtoms& of) {
    std::map<MetricIndex, std::pair<Amount, Amount>> sums;
    std::map<std::pair<MetricIndex, CallPathIndex>, Amount> at;
    for (const std::uint32_t a : of.atoms) {
      const CauseAtom& atom = atoms[a];
      for (const auto& [metric, cost] : ledger_[atom.cause].patterns) {
        auto& [direct, all] = sums[metric];
        direct += share_of(cost.short_term, atom.part, atom.whole);
        all += share_of(cost.short_term + cost.long_term, atom.part, atom.whole);
      }
      for (const auto& [place_number, amount] : ledger_[atom.cause].at) {
        const CauseLog::WaitPlace& place = log_.places[place_number];
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
  GainsOfGroups gains(top, atoms, ledger_.size(), timelines_.size(), results.run, ledger_.all());
  find_gains(largest, gains);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (gains.is_listed(g)) continue;
    ++results.left_out;
    results.left_out_amount += groups[g].group.amount;
    results.left_out_most = std::max(results.left_out_most, groups[g].group.amount);
  }
  results.listed = gains.listed();
}

void CauseSolver::number_causes(std::span<const ListedCause> listed, CauseGroups& groups) const {
  std::vector<std::uint32_t> place(ledger_.size(), kNone);
  for (std::uint32_t i = 0; i < listed.size(); ++i) place[listed[i].cost] = i;
  const auto number = [&](auto&& self, CauseGroup& group) -> void {
    for (std::uint32_t& cause : group.causes) cause = place[cause];
    std::sort(group.causes.begin(), group.causes.end());
    for (CauseGroup& part : group.parts) self(self, part);
  };
  for (CauseGroup& group : groups.listed) number(number, group);
}

}  // namespace kojak::expert
