// From seconds of a trace to nanoseconds since its first event.
#pragma once

#include <algorithm>

#include "epilog/format/record/types.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

struct Clock {
  double begin = 0;
  Nanoseconds operator()(Seconds time) const {
    const double distance = (time.value - begin) * 1e9;
    return rounded(distance);
  }
  Nanoseconds length(Seconds time) const { return rounded(time.value * 1e9); }

 private:
  // (llround is a call.) Times of damaged traces may be larger than any number of nanoseconds.
  static Nanoseconds rounded(double nanoseconds) {
    constexpr double kMost = 9e18;
    return nanoseconds > 0 ? static_cast<Nanoseconds>(std::min(nanoseconds, kMost) + 0.5) : 0;
  }
};

}  // namespace kojak::html
