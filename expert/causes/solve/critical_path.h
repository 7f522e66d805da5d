// The critical path: backward from the process that ends last, and from each wait to the process
// that ended it. Source: Boehme's thesis, 2013.
#pragma once

#include <vector>

#include "expert/causes/log.h"
#include "expert/causes/root_causes.h"

namespace kojak::expert {

// `done`: what all locations did of each stretch, without waits.
void follow_critical_path(CauseLog& log, const std::vector<Amount>& done, RootCauses& results);

}  // namespace kojak::expert
