// Puts root causes together: what is of one function, by which phase it came, and how the waiting
// is spread over processes.
//
// Pure functions on plain values; nothing fails; any thread. Memory: what is given, and as much
// again.
#pragma once

#include <memory>
#include <vector>

#include "expert/causes/groups.h"
#include "expert/causes/root_causes.h"
#include "expert/causes/what_is_done.h"

namespace kojak::expert {

// A cause, or what one of its sampled functions has of it.
struct CauseAtom {
  std::uint32_t cause = 0;  // a number of the caller's
  LocationIndex location = 0;
  StretchId id = 0;
  Stretch stretch;
  std::shared_ptr<const DoneThere> done;
  double samples = 0;  // in the function
  Amount amount = 0, direct = 0;
  Ticks longer = 0;
  bool compared = false;
  Ticks part = 1, whole = 1;  // how much of its cause it is
};

// What one process was found computing in a stretch, and how long it was in it, in all. `interval`:
// seconds of processor time between samples, 0 if that is not known.
struct SampledStretch {
  const std::vector<SampledPlace>& places;
  double interval = 0, seconds = 0;
};
// The atoms of one cause. `cause`: as a whole, with what regions and call sites say is done.
std::vector<CauseAtom> atoms_of(const CauseAtom& cause, const SampledStretch& sampled,
                                const WhatIsDone& what);
// Atoms that nothing was sampled of get the function that their process was found computing before
// the same call, if that is nearly always one.
void name_by_calls(std::vector<CauseAtom>& atoms, const WhatIsDone& what);

// A group with its atoms. Parts are made of those of its atoms whose callers are known.
struct GroupOfAtoms {
  CauseGroup group;
  std::vector<std::uint32_t> atoms;
  std::vector<GroupOfAtoms> parts;
};
// All atoms in groups, the largest first. `all`: all waiting.
std::vector<GroupOfAtoms> put_together(const std::vector<CauseAtom>& atoms, const WhatIsDone& what,
                                       Amount all);

// Waiting of one for another, directly.
struct PairOfGroup {
  LocationIndex culprit = 0, victim = 0;
  Amount amount = 0;
};
// The shape of a group whose ranks are known, and its units. `pairs`: each once; `for_locks`: how
// much of the direct waiting is for locks.
void find_shape(CauseGroup& group, const std::vector<PairOfGroup>& pairs, Amount for_locks,
                Amount all);

// Deadlocks, which are the first of the causes and no group's yet, become the first groups.
void add_deadlock_groups(RootCauses& causes);

}  // namespace kojak::expert
