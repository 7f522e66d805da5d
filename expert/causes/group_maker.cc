// Long because atoms, groups, parts and shapes stand here, each in a few functions.
#include "expert/causes/group_maker.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace kojak::expert {
namespace {

// ---- atoms

constexpr double kFewestSamples = 5;
// Of what took longer while the process ran: what samples must tell at least. Where it hardly ran
// they tell nothing.
constexpr double kExplained = 0.5, kRanAtLeast = 0.03;
constexpr double kOfFunctions = 0.1;  // a function that has less joins the largest
constexpr double kNearlyAll = 0.8;

// A function that was found computing, reached in one way.
struct Found {
  DoneThere done;
  double own = 0, others = 0;
  double most = 0;  // samples of a line
};
struct OfFunction {
  std::vector<Found> ways;
  double longer = 0;  // samples more than the others have
};

std::string way_key(const DoneThere& done, const WhatIsDone& what) {
  std::string key;
  for (const CallerFrame& f : done.callers) key += what.function_name(f.function) + '\0';
  return key;
}

std::vector<OfFunction> functions_of(const std::vector<SampledPlace>& sampled,
                                     const WhatIsDone& what) {
  std::map<std::string, std::map<std::string, Found>> found;
  for (const SampledPlace& s : sampled) {
    DoneThere done = what.sampled(s.site);
    if (done.key.empty()) continue;
    Found& way = found[done.key][way_key(done, what)];
    way.own += s.samples;
    way.others += s.others;
    if (s.samples <= way.most) continue;
    way.most = s.samples;
    way.done = std::move(done);
  }
  std::vector<OfFunction> functions;
  for (auto& [key, ways] : found) {
    OfFunction of;
    for (auto& [name, way] : ways) {
      of.longer += way.own - way.others;
      if (way.own > 0) of.ways.push_back(std::move(way));
    }
    if (of.longer > 0 && !of.ways.empty()) functions.push_back(std::move(of));
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const OfFunction& a, const OfFunction& b) { return a.longer > b.longer; });
  double all = 0;
  for (const OfFunction& f : functions) all += f.longer;
  double small = 0;
  while (functions.size() > 1 && functions.back().longer < kOfFunctions * all) {
    small += functions.back().longer;
    functions.pop_back();
  }
  if (!functions.empty()) functions.front().longer += small;
  return functions;
}

// ---- groups

std::string phase_at(const CauseAtom& atom, std::size_t depth, const WhatIsDone& what) {
  const std::vector<CallerFrame>& callers = atom.done->callers;
  if (callers.empty()) return {};
  return what.function_name(callers[std::min(depth, callers.size() - 1)].function);
}

// The first level below `main` on which not all come by one function; 0 if there is none.
std::size_t level_of_parts(const std::vector<CauseAtom>& all, const std::vector<std::uint32_t>& of,
                           const WhatIsDone& what) {
  std::size_t deepest = 0;
  for (const std::uint32_t a : of) deepest = std::max(deepest, all[a].done->callers.size());
  for (std::size_t depth = 0; depth < deepest; ++depth) {
    std::string name;
    for (const std::uint32_t a : of) {
      const std::string at = phase_at(all[a], depth, what);
      if (at.empty()) continue;
      if (!name.empty() && at != name) return depth;
      name = at;
    }
  }
  return deepest;
}

void take(GroupOfAtoms& group, const CauseAtom& atom, std::uint32_t number) {
  group.atoms.push_back(number);
  CauseGroup& g = group.group;
  g.amount += atom.amount;
  g.direct += atom.direct;
  g.longer += atom.longer;
  g.compared = g.compared || atom.compared;
  if (g.causes.empty() || g.causes.back() != atom.cause) g.causes.push_back(atom.cause);
}

bool before(const CauseAtom& a, const CauseAtom& b) {
  if (a.amount != b.amount) return a.amount > b.amount;
  return std::tuple(a.location, a.stretch.place(), std::string_view(a.done->key)) <
         std::tuple(b.location, b.stretch.place(), std::string_view(b.done->key));
}

// What its largest atom says, the line with the most samples, and who makes how much.
void describe(GroupOfAtoms& group, const std::vector<CauseAtom>& all) {
  CauseGroup& g = group.group;
  std::sort(group.atoms.begin(), group.atoms.end(),
            [&](std::uint32_t a, std::uint32_t b) { return before(all[a], all[b]); });
  const CauseAtom& most = all[group.atoms.front()];
  g.kind = most.stretch.kind;
  g.function = most.done->function;
  g.stretch = most.stretch;
  g.largest = most.location;
  std::map<CallSiteId, double> lines;
  std::map<LocationIndex, Amount> makes;
  for (const std::uint32_t a : group.atoms) {
    if (!is_absent(all[a].done->place)) lines[all[a].done->place] += all[a].samples;
    makes[all[a].location] += all[a].amount;
  }
  double samples = 0;
  for (const auto& [place, count] : lines) {
    if (!is_absent(g.place) && count <= samples) continue;
    g.place = place;
    samples = count;
  }
  for (const auto& [location, amount] : makes) g.ranks.push_back({location, amount, 0});
  std::sort(g.causes.begin(), g.causes.end());
  g.causes.erase(std::unique(g.causes.begin(), g.causes.end()), g.causes.end());
}

void sort_groups(std::vector<GroupOfAtoms>& groups, const std::vector<CauseAtom>& all) {
  std::sort(groups.begin(), groups.end(), [&](const GroupOfAtoms& a, const GroupOfAtoms& b) {
    if (a.group.amount != b.group.amount) return a.group.amount > b.group.amount;
    return before(all[a.atoms.front()], all[b.atoms.front()]);
  });
}

// By the function by which its atoms come; those of which that is not known are in none.
std::vector<GroupOfAtoms> parts_of(const GroupOfAtoms& group, const std::vector<CauseAtom>& all,
                                   const WhatIsDone& what) {
  constexpr std::size_t kPart = 10;  // a part has at least so much of its group: a tenth
  const std::size_t level = level_of_parts(all, group.atoms, what);
  std::map<std::string, GroupOfAtoms> parts;
  for (const std::uint32_t a : group.atoms) {
    const std::string phase = phase_at(all[a], level, what);
    if (!phase.empty()) take(parts[phase], all[a], a);
  }
  std::vector<GroupOfAtoms> large;
  for (auto& [phase, part] : parts) {
    if (part.group.amount * Amount{kPart} < group.group.amount) continue;
    describe(part, all);
    const std::vector<CallerFrame>& callers = all[part.atoms.front()].done->callers;
    part.group.caller = callers[std::min(level, callers.size() - 1)];
    large.push_back(std::move(part));
  }
  if (large.size() < 2) return {};
  sort_groups(large, all);
  return large;
}

// Whether some process has a tenth of two of them.
bool share_a_process(const std::vector<GroupOfAtoms>& parts) {
  std::map<LocationIndex, int> has;
  for (const GroupOfAtoms& part : parts) {
    for (const CauseGroup::Rank& r : part.group.ranks) {
      if (r.makes_wait * 10 >= part.group.amount && ++has[r.location] > 1) return true;
    }
  }
  return false;
}

template <class Key>
std::vector<GroupOfAtoms> by_key(const std::vector<CauseAtom>& atoms, Key&& key) {
  std::map<std::string, GroupOfAtoms> by;
  for (std::uint32_t a = 0; a < atoms.size(); ++a) take(by[key(atoms[a])], atoms[a], a);
  std::vector<GroupOfAtoms> groups;
  for (auto& [name, group] : by) {
    describe(group, atoms);
    groups.push_back(std::move(group));
  }
  sort_groups(groups, atoms);
  return groups;
}

// ---- shapes

class Sets {
 public:
  LocationIndex find(LocationIndex of) {
    const auto known = parent_.try_emplace(of, of).first;
    if (known->second == of) return of;
    return parent_[of] = find(known->second);
  }
  void unite(LocationIndex a, LocationIndex b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::map<LocationIndex, LocationIndex> parent_;
};

template <class T>
Amount median_of(const std::vector<T>& sorted) {  // the largest first
  return sorted.empty() ? 0 : sorted[sorted.size() / 2].amount;
}

// The median, the odd ones, and whether the rest is alike.
void find_odd(CauseGroup& group) {
  constexpr Ticks kMuch = in_ticks(0.001);
  std::vector<CauseGroup::Unit>& units = group.units;
  std::sort(units.begin(), units.end(), [](const CauseGroup::Unit& a, const CauseGroup::Unit& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.members < b.members;
  });
  const Amount m = median_of(units);
  group.median = static_cast<Ticks>(m);
  const auto is_odd = [&](const CauseGroup::Unit& u) {
    return u.amount > 2 * m && u.amount > m + kMuch;
  };
  const auto odd = static_cast<std::size_t>(std::count_if(units.begin(), units.end(), is_odd));
  const bool few = odd <= 3 || odd * 20 <= units.size();
  group.odd = few && odd < units.size() ? odd : 0;
  const auto alike = std::count_if(units.begin(), units.end(), [&](const CauseGroup::Unit& u) {
    return 2 * u.amount >= m && u.amount <= 2 * m;
  });
  const bool largest_is_most = group.odd != 0 && 2 * units.front().amount > group.amount;
  group.even = static_cast<std::size_t>(alike) * 5 >= units.size() * 4 && !largest_is_most;
}

bool find_pairs(CauseGroup& group, const std::vector<PairOfGroup>& pairs, Amount all) {
  constexpr std::size_t kFewestSets = 4;
  if (pairs.empty()) return false;
  std::vector<PairOfGroup> sorted = pairs;
  std::sort(sorted.begin(), sorted.end(), [](const PairOfGroup& a, const PairOfGroup& b) {
    return std::tuple(-a.amount, a.culprit, a.victim) < std::tuple(-b.amount, b.culprit, b.victim);
  });
  const Amount median = median_of(sorted);
  Amount sum = 0, kept = 0;
  Sets sets;
  std::erase_if(sorted, [&](const PairOfGroup& p) {
    sum += p.amount;
    if (p.amount * 100 <= median) return true;
    kept += p.amount;
    sets.unite(p.culprit, p.victim);
    return false;
  });
  if (kept * 10 < sum * 9 || sum * 100 < all) return false;
  std::map<LocationIndex, CauseGroup::Unit> units;
  const auto add_member = [](CauseGroup::Unit& unit, LocationIndex l) {
    const auto at = std::lower_bound(unit.members.begin(), unit.members.end(), l);
    if (at == unit.members.end() || *at != l) unit.members.insert(at, l);
  };
  for (const PairOfGroup& p : sorted) {
    CauseGroup::Unit& unit = units[sets.find(p.culprit)];
    if (unit.members.empty()) {  // the largest comes first
      unit.culprit = p.culprit;
      unit.victim = p.victim;
    }
    unit.amount += p.amount;
    add_member(unit, p.culprit);
    add_member(unit, p.victim);
  }
  if (units.size() < kFewestSets) return false;
  const std::size_t size = units.begin()->second.members.size();
  for (const auto& [first, unit] : units) {
    if (unit.members.size() != size) return false;
  }
  group.shape = CauseGroup::Shape::kPairs;
  for (auto& [first, unit] : units) group.units.push_back(std::move(unit));
  return true;
}

}  // namespace

std::vector<CauseAtom> atoms_of(const CauseAtom& cause, const SampledStretch& sampled,
                                const WhatIsDone& what) {
  if (cause.stretch.kind != Stretch::Kind::kComputing || sampled.places.empty()) return {cause};
  double count = 0;
  for (const SampledPlace& s : sampled.places) count += s.samples;
  const std::vector<OfFunction> functions = functions_of(sampled.places, what);
  double longer = 0;
  for (const OfFunction& f : functions) longer += f.longer;
  const double interval = sampled.interval;
  const double ran = sampled.seconds > 0 ? std::min(1.0, count * interval / sampled.seconds) : 1;
  const bool told =
      interval == 0 ||
      (ran >= kRanAtLeast && longer * interval >= kExplained * ran * in_seconds(cause.longer));
  if (count < kFewestSamples || functions.empty() || !told) return {cause};
  // In thousandths of samples: shares are whole numbers.
  constexpr double kParts = 1000;
  std::vector<std::pair<const Found*, Ticks>> parts;
  Ticks all = 0;
  for (const OfFunction& f : functions) {
    double own = 0;
    for (const Found& way : f.ways) own += way.own;
    for (const Found& way : f.ways) {
      const Ticks part = nearest_whole(kParts * f.longer * (way.own / own));
      if (part <= 0) continue;
      parts.emplace_back(&way, part);
      all += part;
    }
  }
  if (all == 0) return {cause};
  std::vector<CauseAtom> atoms;
  Ticks until = 0;
  Amount amount = 0, direct = 0;
  for (const auto& [way, part] : parts) {
    CauseAtom atom = cause;
    until += part;
    atom.done = std::make_shared<const DoneThere>(way->done);
    atom.samples = way->own;
    atom.part = part;
    atom.whole = all;
    atom.amount = share_of(cause.amount, until, all) - amount;
    atom.direct = share_of(cause.direct, until, all) - direct;
    atom.longer = static_cast<Ticks>(share_of(cause.longer, part, all));
    amount += atom.amount;
    direct += atom.direct;
    atoms.push_back(std::move(atom));
  }
  return atoms;
}

void name_by_calls(std::vector<CauseAtom>& atoms, const WhatIsDone& what) {
  using Place = std::pair<LocationIndex, std::string>;
  struct OfPlace {
    std::map<std::string, std::pair<Ticks, std::shared_ptr<const DoneThere>>> functions;
    Ticks all = 0;
  };
  std::map<Place, OfPlace> places;
  for (const CauseAtom& a : atoms) {
    if (a.samples <= 0) continue;
    OfPlace& of = places[{a.location, what.call_at_end(a.stretch)}];
    auto& [longer, done] = of.functions[a.done->key];
    longer += a.longer;
    if (done == nullptr) done = a.done;
    of.all += a.longer;
  }
  if (places.empty()) return;
  for (CauseAtom& a : atoms) {
    if (a.stretch.kind != Stretch::Kind::kComputing || a.samples > 0) continue;
    const auto place = places.find({a.location, what.call_at_end(a.stretch)});
    if (place == places.end()) continue;
    for (const auto& [key, function] : place->second.functions) {
      const auto part = static_cast<double>(function.first);
      if (part < kNearlyAll * static_cast<double>(place->second.all)) continue;
      a.done = function.second;
      break;
    }
  }
}

std::vector<GroupOfAtoms> put_together(const std::vector<CauseAtom>& atoms, const WhatIsDone& what,
                                       Amount all) {
  constexpr int kBig = 10;  // of all waiting: a tenth
  std::vector<GroupOfAtoms> groups = by_key(atoms, [](const CauseAtom& a) { return a.done->key; });
  const auto none_is_big = [&](const std::vector<GroupOfAtoms>& of) {
    return of.empty() || of.front().group.amount * kBig < all;
  };
  const std::size_t functions = groups.size();
  if (!groups.empty() && none_is_big(groups)) {
    std::vector<std::uint32_t> every(atoms.size());
    std::iota(every.begin(), every.end(), 0u);
    const std::size_t level = level_of_parts(atoms, every, what);
    std::vector<GroupOfAtoms> other = by_key(atoms, [&](const CauseAtom& a) {
      const std::string phase = phase_at(a, level, what);
      return phase.empty() ? "\1" + a.done->key : phase;
    });
    CauseGroup::Spread spread = CauseGroup::Spread::kPhase;
    const bool phase_known =
        !other.empty() && !atoms[other.front().atoms.front()].done->callers.empty();
    if (none_is_big(other) || !phase_known) {
      other = by_key(atoms, [](const CauseAtom& a) {
        return std::to_string(static_cast<int>(a.stretch.kind));
      });
      spread = CauseGroup::Spread::kKind;
    }
    if (!none_is_big(other)) {
      GroupOfAtoms& first = other.front();
      first.group.spread = spread;
      first.group.functions = functions;
      const std::vector<CallerFrame>& callers = atoms[first.atoms.front()].done->callers;
      if (spread == CauseGroup::Spread::kPhase) {
        first.group.caller = callers[std::min(level, callers.size() - 1)];
      }
      // What is in it is told there; the rest stays by function.
      const std::set<std::uint32_t> told(first.atoms.begin(), first.atoms.end());
      std::map<std::string, GroupOfAtoms> by;
      for (std::uint32_t a = 0; a < atoms.size(); ++a) {
        if (!told.contains(a)) take(by[atoms[a].done->key], atoms[a], a);
      }
      std::vector<GroupOfAtoms> rest;
      rest.push_back(std::move(first));
      for (auto& [name, group] : by) {
        describe(group, atoms);
        rest.push_back(std::move(group));
      }
      sort_groups(rest, atoms);
      return rest;
    }
  }
  std::vector<GroupOfAtoms> apart;
  for (GroupOfAtoms& group : groups) {
    std::vector<GroupOfAtoms> parts = parts_of(group, atoms, what);
    if (parts.empty() || share_a_process(parts)) {
      group.parts = std::move(parts);
      apart.push_back(std::move(group));
      continue;
    }
    // Nobody is in two of them: groups of their own, and what is in none.
    std::set<std::uint32_t> told;
    for (GroupOfAtoms& p : parts) {
      told.insert(p.atoms.begin(), p.atoms.end());
      apart.push_back(std::move(p));
    }
    GroupOfAtoms rest;
    for (const std::uint32_t a : group.atoms) {
      if (!told.contains(a)) take(rest, atoms[a], a);
    }
    if (rest.atoms.empty()) continue;
    describe(rest, atoms);
    apart.push_back(std::move(rest));
  }
  sort_groups(apart, atoms);
  return apart;
}

void find_shape(CauseGroup& group, const std::vector<PairOfGroup>& pairs, Amount for_locks,
                Amount all) {
  constexpr std::size_t kFew = 3, kTurns = 3;
  const bool answers = group.kind == Stretch::Kind::kAnswering;  // whoever asks
  if (!answers && find_pairs(group, pairs, all)) return find_odd(group);
  std::vector<std::uint32_t> sorted;
  for (std::uint32_t r = 0; r < group.ranks.size(); ++r) {
    if (group.ranks[r].makes_wait > 0) sorted.push_back(r);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return group.ranks[a].makes_wait > group.ranks[b].makes_wait;
  });
  for (const std::uint32_t r : sorted) {
    const CauseGroup::Rank& rank = group.ranks[r];
    group.units.push_back({{rank.location}, rank.makes_wait, rank.location, rank.location});
  }
  if (!answers && 2 * for_locks >= group.direct && group.direct > 0 && sorted.size() >= kTurns) {
    group.shape = CauseGroup::Shape::kTurns;
    return find_odd(group);
  }
  Amount sum = 0;
  for (std::size_t i = 0; i < sorted.size() && i < kFew; ++i) {
    sum += group.ranks[sorted[i]].makes_wait;
    if (sum * 5 < group.amount * 4) continue;
    group.shape = CauseGroup::Shape::kFew;
    group.few.assign(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    group.units.clear();
    return;
  }
  group.shape = CauseGroup::Shape::kAll;
  if (group.units.empty()) return;
  // Those with a tenth of the largest.
  std::erase_if(group.units, [largest = group.units.front().amount](const CauseGroup::Unit& u) {
    return u.amount * 10 < largest;
  });
  find_odd(group);
}

void add_deadlock_groups(RootCauses& causes) {
  constexpr std::uint32_t kNoDeadlockNumber = ~0u;
  std::uint32_t count = 0;
  while (count < causes.causes.size() && causes.causes[count].deadlock != kNoDeadlockNumber)
    ++count;
  if (count == 0) return;
  const auto shift = [&](auto&& self, CauseGroup& group) -> void {
    for (std::uint32_t& cause : group.causes) cause += count;
    for (CauseGroup& part : group.parts) self(self, part);
  };
  for (CauseGroup& group : causes.groups.listed) shift(shift, group);
  std::vector<CauseGroup> groups;
  for (std::uint32_t i = 0; i < count; ++i) {
    const RootCause& cause = causes.causes[i];
    CauseGroup group;
    group.deadlock = cause.deadlock;
    group.kind = cause.stretch.kind;
    group.stretch = cause.stretch;
    group.largest = cause.location;
    group.amount = group.direct = Amount{in_ticks(cause.seconds)};
    group.longer = in_ticks(cause.longer);
    group.causes = {i};
    for (const CostOfPattern& p : cause.patterns) {
      group.patterns.emplace_back(p.metric, Amount{in_ticks(p.short_term)});
    }
    causes.groups.all += group.amount;
    groups.push_back(std::move(group));
  }
  causes.groups.listed.insert(causes.groups.listed.begin(), std::make_move_iterator(groups.begin()),
                              std::make_move_iterator(groups.end()));
}

}  // namespace kojak::expert
