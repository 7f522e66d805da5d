// What a reading of the kernel's counts says of the time since the one before, where a thread did
// not run all of it outside of calls (PROCESSOR's blocked_kind). Plain values; nothing fails.
#pragma once

#include <algorithm>
#include <optional>

#include "earl/event.h"

namespace kojak::expert {

struct NotRun {
  double blocked = 0;       // seconds
  double no_processor = 0;  // ready to run
  BlockedKind kind = BlockedKind::kNone;
  bool known = true;  // false: nobody knows how much of `blocked` it was ready to run
};

// Of one location, in the order of time.
class NotRunFinder {
 public:
  std::optional<NotRun> add(Seconds time, const earl::ProcessorTimes& times) {
    const bool first = !there_;
    const Seconds since = time_;
    const earl::ProcessorTimes last = times_;
    there_ = true;
    time_ = time;
    times_ = times;
    // Counts fall in damaged traces only.
    if (first || times.blocked == BlockedKind::kNone || times.ran < last.ran) return std::nullopt;
    NotRun found{.kind = times.blocked};
    const double all = std::max((time - since).value - seconds(times.ran - last.ran), 0.0);
    if (!times.wanted_known() || !last.wanted_known()) {
      found.known = times.blocked != BlockedKind::kOther;
    } else if (times.wanted >= last.wanted) {
      found.no_processor = std::min(seconds(times.wanted - last.wanted), all);
    }
    found.blocked = all - found.no_processor;
    return found;
  }

 private:
  static double seconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) * 1e-9;
  }
  bool there_ = false;
  Seconds time_;
  earl::ProcessorTimes times_;
};

}  // namespace kojak::expert
