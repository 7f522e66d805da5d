// Makes what a page shows of a trace less, part by part, until it fits.
//
// Each part has its own way of becoming fewer: short calls merge, of arrows and fences some are
// left out evenly, of epochs the shortest, and cells of the byte matrix stand for more ranks. What
// was lost is said by omissions(). Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "expert/html/trace_content.h"

namespace kojak::html {

class Thinner {
 public:
  enum Part : std::size_t { kBoxes, kBands, kMessages, kTransfers, kFences, kTraffic, kParts };

  explicit Thinner(TraceContent& content);
  // Takes about a third of the part away; false if there is nothing to take.
  bool thin(Part part);
  // Sentences about what is not shown; whole if empty.
  std::vector<std::string> omissions() const;

 private:
  std::size_t amount(Part part) const;

  TraceContent& content_;
  std::array<std::size_t, kParts> before_{};
  std::size_t boxes_ = 0;
  Nanoseconds threshold_ = 0;
};

// Twice as many ranks a cell.
void coarsen_traffic(std::vector<Traffic>& traffic);

}  // namespace kojak::html
