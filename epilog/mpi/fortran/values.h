// What Fortran calls MPI_IN_PLACE, MPI_STATUS_IGNORE and .false., as seen from C++.
//
// The first two are addresses and the last one is a value of the compiler's, so they are found by
// Fortran: values.f90 is compiled by the MPI library's own Fortran compiler and hands them
// over when they are first asked for. It needs no Fortran library, so that C programs do not load
// one. Constant once known; thread-safe; cannot fail.
#pragma once

#include <atomic>

#include "epilog/mpi/fortran/entry.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure::fortran {

// The addresses of one interface; mpi_f08 may have its own.
struct Sentinels {
  const void* in_place = nullptr;
  const void* status_ignore = nullptr;
  const void* statuses_ignore = nullptr;
};
struct Values {
  Sentinels mpif_h, f08;
  MPI_Fint status_size = 0;  // INTEGERs of one status
  MPI_Fint false_value = 0;
};

extern std::atomic<const Values*> known_values;
[[gnu::cold, gnu::noinline]] const Values& ask_fortran();

inline const Values& values() {
  const Values* known = known_values.load(std::memory_order_acquire);
  return known != nullptr ? *known : ask_fortran();
}
inline const Sentinels& sentinels(Interface interface) {
  return interface == Interface::kMpifH ? values().mpif_h : values().f08;
}

// What Waitany, Testany, Waitsome and Testsome call the first request. It should be 1; in mpi_f08
// of MPICH before 4.1 it is 0, so MPICH is asked, by a request that is complete.
#if defined(MPICH_VERSION)
MPI_Fint first_index_of_f08();
inline MPI_Fint first_index(Interface interface) {
  return interface == Interface::kMpifH ? 1 : first_index_of_f08();
}
#else
constexpr MPI_Fint first_index(Interface) {
  return 1;
}
#endif

inline bool ignores_status(const void* status, Interface interface) {
  const Sentinels& s = sentinels(interface);
  return status == s.status_ignore || status == s.statuses_ignore;
}

}  // namespace kojak::measure::fortran
