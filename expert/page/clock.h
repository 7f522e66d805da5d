// From seconds of a trace to nanoseconds since its first event.
#pragma once

#include <cmath>

#include "epilog/format/record/types.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

struct Clock {
  double begin = 0;
  Nanoseconds operator()(Seconds time) const {
    const double distance = (time.value - begin) * 1e9;
    return distance > 0 ? static_cast<Nanoseconds>(std::llround(distance)) : 0;
  }
  Nanoseconds length(Seconds time) const {
    return time.value > 0 ? static_cast<Nanoseconds>(std::llround(time.value * 1e9)) : 0;
  }
};

}  // namespace kojak::html
