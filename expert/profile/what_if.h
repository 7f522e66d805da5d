// How long the recorded run would take without some groups of root causes.
//
// Pure functions; nothing fails; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct WhatIf {
  std::string name;          // "1": without group 1; "1a": a part of it; "1-3": the first three
  double run = 0, gain = 0;  // seconds
};

// What the run of that length gains without something: never more than the run. Nothing where it is
// not known, or the run was ended.
std::optional<double> gain_seconds(const Report& report, double run,
                                   const std::optional<Ticks>& gain);
// None without root causes, or of a run that was ended.
std::vector<WhatIf> what_if(const Report& report);

}  // namespace kojak::expert
