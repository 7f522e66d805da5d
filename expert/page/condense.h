// Makes boxes fewer: short calls that follow one another become one box.
//
// Calls at the same depth under the same parent merge as long as the box that they make is shorter
// than a threshold; it takes the region of the longest of them and says how many they were. Calls
// longer than the threshold stay as they are, so everything that can be seen at the scale of the
// run stays. A call that waited is merged only if it is shorter than an eighth of the threshold:
// so there is most detail where the waits are. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/page/trace_content.h"

namespace kojak::html {

// `boxes` in order of begin, parents before children; stays so. `waits` of the same row, in order
// of begin.
void condense(std::vector<Box>& boxes, Nanoseconds threshold,
              const std::vector<WaitBox>& waits = {});
// Of waits in order of begin: the merged one has the metric and the partner of the longest.
void condense(std::vector<WaitBox>& waits, Nanoseconds threshold);

// Raises the threshold until all rows together hold at most `limit`; `threshold` is where to begin
// and what was reached.
void condense_to(std::vector<std::vector<Box>>& rows,
                 const std::vector<std::vector<WaitBox>>& waits, std::size_t limit,
                 Nanoseconds& threshold);
void condense_to(std::vector<std::vector<WaitBox>>& rows, std::size_t limit,
                 Nanoseconds& threshold);

template <class T>
std::size_t count_all(const std::vector<std::vector<T>>& rows) {
  std::size_t total = 0;
  for (const auto& row : rows) total += row.size();
  return total;
}

}  // namespace kojak::html
