// Two reports over the same trees, so that they can be compared.
//
// Metrics are the same when their unique names are. Call paths are the same when their callers are
// and they call the same function, whatever its file; a name's own places ("between MPI_Put a.c:3
// and MPI_Put a.c:9") do not count. Several calls of one function: where both reports have as many
// of them, the first is the first, because lines move when a program is improved; else those at
// equal lines are the same, and the rest in order. A root that no other report has by name is the
// other's root: it is named after the program. Locations are compared one by one only if both
// reports have as many on as many processes; if not, each report is summed up to one location. The
// two results
// own everything. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expert/profile/model.h"

namespace kojak::cube {

struct Difference {
  // Same metrics, regions, call nodes and system in both, in the same order.
  Report before;
  Report after;
  bool by_location = false;
  enum class In : unsigned char { kBoth, kBefore, kAfter };
  std::vector<In> call_nodes_in;                          // which report has this call node
  std::size_t locations_before = 0, locations_after = 0;  // as the reports had them
};

// Without its places: "between MPI_Put a.c:3 and MPI_Put a.c:9" is "between MPI_Put and MPI_Put".
std::string without_places(std::string_view name);

Difference align(const Report& before, const Report& after);

}  // namespace kojak::cube
