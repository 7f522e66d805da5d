// The severities of a report, packed for a page within a budget of bytes.
//
// Values are exclusive along both trees, so that what a metric shares with its parent is stored
// once; the page sums up. The sums over the locations are always exact. The values of single
// locations are exact if that fits, else rounded to 16 or to 8 bits of the largest value in their
// row; what still does not fit is left out, the smallest rows first, and counted.
#pragma once

#include <cstddef>
#include <string>

#include "expert/profile/model.h"

namespace kojak::html {

struct PackedSeverities {
  std::string directory;  // JSON
  std::string data;       // compressed
  std::string precision;  // "exact", "16 bit", "8 to 16 bit" or "8 bit"
  std::size_t rows = 0;
  std::size_t rows_left_out = 0;  // of which only the sum is there
};

// `before` may be null; else the values are those of `report` minus those of `before`, which has
// the same trees.
PackedSeverities pack_severities(const cube::Report& report, const cube::Report* before,
                                 std::size_t max_bytes);

// Sums over the locations as in the file: inclusive along metrics, exclusive along call paths.
PackedSeverities pack_sums(const cube::Report& report);

}  // namespace kojak::html
