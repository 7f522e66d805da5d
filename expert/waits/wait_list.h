// Every wait that an analysis counts, in the order in which it was told: for who looks at the rows
// themselves, as tests do. Memory: all of them.
#pragma once

#include <vector>

#include "expert/waits/wait.h"

namespace kojak::expert {

struct WaitList {
  void on_wait(const Wait& wait) { waits.push_back(wait); }
  std::vector<Wait> waits;
};

}  // namespace kojak::expert
