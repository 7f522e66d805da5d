// How much of each moment the processes wait and are in MPI: shares in equal steps of the run, for
// the picture of all processes at once.
//
// The run's length is known before, so one pass is enough; memory is rows x columns, at most
// `cells` of them (at least 16 columns), however many calls there are. Not thread-safe; nothing
// fails.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/html/trace_content.h"

namespace kojak::html {

class DensityBins {
 public:
  DensityBins(std::size_t rows, Nanoseconds span, std::size_t cells);

  // A call into MPI; a time of waiting within one, of which `waited` counts.
  void add_mpi(std::size_t row, Nanoseconds begin, Nanoseconds end);
  void add_wait(std::size_t row, Nanoseconds begin, Nanoseconds end, Nanoseconds waited);
  Density finish() const;

 private:
  void add(std::vector<float>& cells, std::size_t row, Nanoseconds begin, Nanoseconds end,
           double weight) const;

  std::size_t columns_;
  double per_nanosecond_;  // columns
  std::vector<float> mpi_, waiting_;
};

// Two columns become one.
void halve(Density& density);

}  // namespace kojak::html
