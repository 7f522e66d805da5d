// Two reports over the same trees, so that they can be compared.
//
// Metrics are the same when their unique names are. Call paths are the same when their callers are
// and they call the same function: at the same line if there is such a call, else in order, because
// lines move when a program is improved. A root that no other report has by name is the other's
// root: it is named after the program. Locations are compared one by one only if both reports have
// as many on as many processes; if not, each report is summed up to one location. The two results
// own everything. Thread-safe.
#pragma once

#include "expert/profile/model.h"

namespace kojak::cube {

struct Difference {
  // Same metrics, regions, call nodes and system in both, in the same order.
  Report before;
  Report after;
  bool by_location = false;
  std::size_t locations_before = 0, locations_after = 0;  // as the reports had them
};

Difference align(const Report& before, const Report& after);

}  // namespace kojak::cube
