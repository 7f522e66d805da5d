// Makes boxes fewer: short calls that follow one another become one box.
//
// Calls at the same depth under the same parent merge as long as the box that they make is shorter
// than a threshold; it takes the region of the longest of them and says how many they were. Nothing
// longer than the threshold is changed, so what can be seen at the scale of the run stays. Pure
// functions; thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/html/trace_content.h"

namespace kojak::html {

// Parents before children; of equal ones the one that was added later is the parent, because calls
// are added when they end.
void put_in_order(std::vector<Box>& boxes);

// `boxes` in order; stays so.
void condense(std::vector<Box>& boxes, Nanoseconds threshold);

// Doubles the threshold until all rows together hold at most `limit` boxes; `threshold` is where to
// begin and what was reached.
void condense_to(std::vector<std::vector<Box>>& rows, std::size_t limit, Nanoseconds& threshold);

}  // namespace kojak::html
