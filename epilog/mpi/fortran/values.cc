#include "epilog/mpi/fortran/values.h"

namespace kojak::measure::fortran {

std::atomic<const Values*> known_values{nullptr};

namespace {
// Every thread that fills it writes the same.
Values found;
}  // namespace

}  // namespace kojak::measure::fortran

// Names as gfortran and most others spell them; values_<mpi>.f90 binds them explicitly.
extern "C" {
void kojak_fortran_hand_over();

__attribute__((visibility("hidden"))) void kojak_fortran_take_logical(const MPI_Fint* false_value) {
  kojak::measure::fortran::found.false_value = *false_value;
}
__attribute__((visibility("hidden"))) void kojak_fortran_take_sentinels(
    const void* in_place, const void* status_ignore, const void* statuses_ignore,
    const MPI_Fint* status_size) {
  kojak::measure::fortran::Values& found = kojak::measure::fortran::found;
  found.in_place = in_place;
  found.status_ignore = status_ignore;
  found.statuses_ignore = statuses_ignore;
  found.status_size = *status_size;
}
}

namespace kojak::measure::fortran {

const Values& ask_fortran() {
  kojak_fortran_hand_over();
#if defined(MPICH_VERSION)
  // Only mpi_f08 calls come to us (generate_fortran.py); the standard names its sentinels in C.
  found.status_ignore = MPI_F08_STATUS_IGNORE;
  found.statuses_ignore = MPI_F08_STATUSES_IGNORE;
  found.status_size = sizeof(MPI_F08_status) / sizeof(MPI_Fint);
#endif
  known_values.store(&found, std::memory_order_release);
  return found;
}

}  // namespace kojak::measure::fortran
