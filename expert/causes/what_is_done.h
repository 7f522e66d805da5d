// What somebody does who makes the others wait, in the terms by which causes are put together: the
// function that is to blame, whatever process, iteration and path above it.
//
// Names of functions decide, not their numbers: instances of one template are one function. Memory:
// nothing of its own. Nothing fails; any thread while no paths are added to the tree.
#pragma once

#include <string>
#include <vector>

#include "expert/causes/stretches.h"

namespace kojak::expert {

// A function on the way to what is done, and where it calls the next one; absent if nobody knows.
struct CallerFrame {
  RegionId function = absent<RegionId>();
  CallSiteId call = absent<CallSiteId>();
};

struct DoneThere {
  std::string key;                          // equal for what is put together
  RegionId function = absent<RegionId>();   // absent: not known
  CallSiteId place = absent<CallSiteId>();  // a place in it that was sampled; absent: none
  std::vector<CallerFrame> callers;         // outermost first
};

class WhatIsDone {
 public:
  // It must outlive this, and so must what it was made of.
  explicit WhatIsDone(const LibraryCalls& library)
      : tree_(library.tree()), definitions_(library.definitions()) {}

  // As far as regions and call sites tell: computing belongs to the function that is open in the
  // trace, or holds the calls at both ends, and to the call at its end.
  DoneThere of(const Stretch& stretch) const;
  // Where a sample lies; the key is empty if that is not known.
  DoneThere sampled(CallSiteId site) const;
  // The call at the end of a stretch; empty if there is none.
  std::string call_at_end(const Stretch& stretch) const;
  std::string function_name(RegionId function) const;
  // Seconds of processor time between two samples; 0: not known.
  double sample_interval() const;

 private:
  const RegionDef* region(RegionId id) const {
    return definitions_ == nullptr ? nullptr : definitions_->regions.find(id);
  }
  const CallSiteDef* site(CallSiteId id) const {
    return definitions_ == nullptr || is_absent(id) ? nullptr : definitions_->call_sites.find(id);
  }
  const earl::CallPath* path(CallPathIndex index) const {
    const bool there = tree_ != nullptr && index != kNoCallPath && index < tree_->size();
    return there ? &(*tree_)[static_cast<CallPathId>(index)] : nullptr;
  }
  std::string function_key(RegionId function) const;
  std::string call_key(CallPathIndex call) const;
  // The functions from which a call was made, innermost first, each with its place.
  std::vector<CallerFrame> chain_of(CallPathIndex call) const;
  void add_computing(const Stretch& stretch, DoneThere& done) const;

  const earl::CallTree* tree_;
  const Definitions* definitions_;
};

}  // namespace kojak::expert
