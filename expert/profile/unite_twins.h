// Makes siblings of a call tree one entry that CUBE's tools could not tell from each other, and
// those of which one tells less of the same function than the other.
//
// A function comes into a report by several ways: because it was entered, because a call site names
// it as the caller, because samples were taken in it, or as what is computed between two calls.
// Equal are siblings of the same region (region_identity.h) that were called at the same line. A
// function of the program, whose place is known, stands below its caller also no more than once
// with and without the line of its call: the line is taken over where it can only be that one, else
// none is told. Source: CUBE 3's algebra compares call paths by regions and lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct CallForest {
  std::vector<CallPath>& paths;  // their parents and lines are brought up to date
  std::vector<std::vector<std::size_t>>& children;
  std::vector<std::size_t>& roots;
  std::size_t recorded;             // the paths before this have rows in the severity store
  std::vector<bool>& named;         // of each path: a call site names it as the caller
  std::vector<std::size_t>& place;  // of each path: that which it was united with, or itself
};

void unite_twins(CallForest& forest, const Definitions& definitions,
                 const std::function<std::string(RegionId)>& name_of);

}  // namespace kojak::expert
