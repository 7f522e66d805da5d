// How long the recorded run would take without some groups of root causes.
//
// Pure function; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct WhatIf {
  std::string name;          // "1": without group 1; "1a": a part of it; "1-3": the first three
  double run = 0, gain = 0;  // seconds
};

// None without root causes, or of a run that was ended.
std::vector<WhatIf> what_if(const Report& report);

}  // namespace kojak::expert
