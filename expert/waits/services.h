// Which locations serve the others, and from when on (epilog/format/service.h).
//
// From then on their calls are no waiting, and no computing of theirs lets others wait: the
// analysis asks here. Plain values.
#pragma once

#include <limits>
#include <vector>

#include "earl/trace.h"
#include "epilog/format/service.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

class Services {
 public:
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

  explicit Services(const earl::Trace& trace) {
    for (LocationIndex l = 0; l < trace.location_count(); ++l) {
      const auto since = service_since(trace.definitions(), trace.location_def(l));
      if (!since) continue;
      if (since_.empty()) since_.assign(trace.location_count(), kNever);
      since_[l] = *since;
      threads_ = threads_ || raw(trace.location_def(l).thread) != 0;
    }
  }
  bool any() const { return !since_.empty(); }
  // Beside the process's first thread.
  bool any_thread() const { return threads_; }
  Seconds since(LocationIndex location) const {
    return location < since_.size() ? since_[location] : kNever;
  }
  // Whether the location serves at that time; of a call, when it begins.
  bool at(LocationIndex location, Seconds time) const { return any() && since(location) <= time; }

 private:
  std::vector<Seconds> since_;  // by location; empty: none serves
  bool threads_ = false;
};

}  // namespace kojak::expert
