// What Fortran calls MPI_IN_PLACE, MPI_STATUS_IGNORE and .false., as seen from C++.
//
// The first two are addresses and the last one is a value of the compiler's, so they are found by
// Fortran: values_<mpi>.f90 is compiled by the MPI library's own Fortran compiler and hands them
// over when they are first asked for. It needs no Fortran library, so that C programs do not load
// one. Constant once known; thread-safe; cannot fail.
#pragma once

#include <mpi.h>

#include <atomic>

namespace kojak::measure::fortran {

struct Values {
  const void* in_place = nullptr;
  const void* status_ignore = nullptr;
  const void* statuses_ignore = nullptr;
  MPI_Fint status_size = 0;  // INTEGERs of one status
  MPI_Fint false_value = 0;
};

extern std::atomic<const Values*> known_values;
[[gnu::cold, gnu::noinline]] const Values& ask_fortran();

inline const Values& values() {
  const Values* known = known_values.load(std::memory_order_acquire);
  return known != nullptr ? *known : ask_fortran();
}

// What Waitany, Testany, Waitsome and Testsome call the first request. It should be 1; in mpi_f08
// of MPICH before 4.1 it is 0, so MPICH is asked, by a request that is complete: only where
// requests are given anyway.
#if defined(MPICH_VERSION)
MPI_Fint first_index();
#else
constexpr MPI_Fint first_index() {
  return 1;
}
#endif

inline bool ignores_status(const void* status) {
  return status == values().status_ignore || status == values().statuses_ignore;
}

}  // namespace kojak::measure::fortran
