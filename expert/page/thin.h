// Shrinks what a page shows of a trace, part by part, until it fits.
//
// Each part has its own way: short calls, waits, epochs and times without a processor become one
// (kept/); arrows and fences are left out evenly; the density gets half the columns; a cell of the
// matrix stands for all windows and functions, then for several ranks. omissions() says what was
// lost.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "expert/page/trace_content.h"

namespace kojak::html {

class Thinner {
 public:
  enum Part : std::size_t {
    kBoxes,
    kWaits,
    kBands,
    kMessages,
    kTransfers,
    kFences,
    kTraffic,
    kStripes,
    kDensity,
    kParts
  };

  explicit Thinner(TraceContent& content) : content_(content) {}
  // Leaves about `share` of the part, less than 1; false if there is nothing to take.
  bool thin(Part part, double share);

 private:
  std::size_t amount(Part part) const;

  TraceContent& content_;
};

// Sentences about what is not shown, for the page and for the terminal; whole if empty.
std::vector<std::string> omissions(const TraceContent& content);

// Sums of cells that are no longer told apart: first windows and functions, then, each time, twice
// as many ranks a cell.
void coarsen_traffic(TraceContent& content);

}  // namespace kojak::html
