// How much of each moment the processes wait and are in MPI: shares in equal steps of the run, for
// the picture of all processes at once.
//
// One pass is enough, although nobody knows before how long the run is: the first bins are a
// nanosecond long, and two become one each time that something lies behind the last of them.
// finish() spreads the bins, of which more than half are in use then, over the steps. Memory is
// rows x bins, at most `cells` of them (at least 16 bins), however many calls there are. Bins hold
// whole nanoseconds, so that sums do not depend on who counted what.
// Not thread-safe; nothing fails.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/page/trace_content.h"

namespace kojak::html {

class DensityBins {
 public:
  DensityBins(std::size_t rows, std::size_t cells);

  // A call into MPI; a time of waiting within one, of which `waited` counts.
  void add_mpi(std::size_t row, Nanoseconds begin, Nanoseconds end);
  void add_wait(std::size_t row, Nanoseconds begin, Nanoseconds end, Nanoseconds waited);
  // What another one counted, of as many rows and cells.
  void add(DensityBins& other);
  template <class Archive>
  void visit(Archive& archive) {
    archive(shift_, mpi_, waiting_);
  }
  // Of a run of that length; what lies behind it is left out.
  Density finish(Nanoseconds span) const;

 private:
  using Cells = std::vector<Nanoseconds>;
  void add(Cells& cells, std::size_t row, Nanoseconds begin, Nanoseconds end, Nanoseconds counts);
  void make_room(Nanoseconds end);
  void double_bins();
  std::vector<std::uint8_t> shares(const Cells& cells, Nanoseconds span, std::size_t columns) const;

  std::size_t rows_, bins_;  // bins of a row: a power of two
  unsigned shift_ = 0;       // of the nanoseconds in a bin
  Cells mpi_, waiting_;
};

// Two columns become one.
void halve(Density& density);

}  // namespace kojak::html
