// Every wait that an analysis counts, for tests.
#pragma once

#include <vector>

#include "expert/waits/stream.h"

namespace kojak::expert {

class WaitList : public ReplayWatcher {
 public:
  void on_wait(const Wait& wait) override { waits.push_back(wait); }
  std::vector<Wait> waits;
};

}  // namespace kojak::expert
