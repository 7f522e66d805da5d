// Where tasks of OpenMP come from: who created them, at which place in the program, and who
// executed how many of them.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

// The tasks that one thread created at one place.
struct CreatedTasks {
  struct Share {  // those that one thread executed
    LocationIndex thread = 0;
    std::uint64_t count = 0;
    TimeSum sum;  // how long they took
  };
  CallPathIndex call_path = 0;  // of one of them; all of the same place
  LocationIndex creator = 0;
  std::vector<Share> shares;
};

}  // namespace kojak::expert
