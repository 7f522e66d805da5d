// The time of most formats: whole nanoseconds since the trace's first event.
//
// The first time that is asked for is the beginning; what lies before it counts as 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "epilog/format/record/types.h"

namespace kojak::exporting {

class Clock {
 public:
  std::uint64_t operator()(Seconds time) {
    if (!started_) {
      started_ = true;
      start_ = time;
    }
    const double ns = std::round((time.value - start_.value) * 1e9);
    const std::uint64_t at = ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
    last_ = std::max(last_, at);
    return at;
  }
  // The latest of all.
  std::uint64_t last() const { return last_; }

 private:
  Seconds start_;
  bool started_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace kojak::exporting
