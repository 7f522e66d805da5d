// What shares of a run are of: the time of all processes between MPI_Init and MPI_Finalize.
//
// Starting and ending MPI says nothing about the program and is more than half of a short run, so
// it is left out. What processes wait in MPI_Finalize for others that still work stays in. The
// terminal and the page ask here, so that both name the same shares.
#pragma once

#include <string>
#include <string_view>

#include "epilog/format/mpi_functions.h"
#include "expert/wait_words.h"

namespace kojak::expert {

struct RunTime {
  double whole = 0;     // seconds that shares are of
  double left_out = 0;  // seconds of starting and ending MPI

  // `total` gives the sum of a metric over all calls and processes, 0 if the report has none.
  template <class Total>
  static RunTime of(Total&& total) {
    const double time = total("time");
    const double start = total("mpi_init_exit") - total("mpi_finalize_wait");
    if (!(start > 0) || start >= time) return {time, 0};
    return {time - start, start};
  }

  // For the reader; empty if nothing was left out.
  std::string words() const {
    if (!(left_out > 0)) return {};
    return "Shares are of the time between MPI_Init and MPI_Finalize: the " + fixed(left_out, 3) +
           " s in which MPI starts and ends are not in them.";
  }
};

// Whether a function starts or ends MPI.
inline bool starts_or_ends_mpi(std::string_view region_name) {
  const MpiFunction* const function = find_mpi_function(region_name);
  return function != nullptr && function->cls == MpiClass::kInitExit;
}

}  // namespace kojak::expert
