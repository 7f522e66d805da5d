#include "epilog/mpi/fortran/values.h"

#include <dlfcn.h>

#include "epilog/mpi/args.h"
#include "epilog/mpi/fortran/libraries.h"

#if defined(MPICH_VERSION)
// From MPICH 4.1 on these lie in its Fortran library, which no C program has: nothing may need
// them. Some versions of mpi.h do not declare the first.
extern "C" int MPIR_F08_MPI_IN_PLACE;
#pragma weak MPIR_F08_MPI_IN_PLACE
#pragma weak MPI_F08_STATUS_IGNORE
#pragma weak MPI_F08_STATUSES_IGNORE
#endif

namespace kojak::measure::fortran {

std::atomic<const Values*> known_values{nullptr};

namespace {
// Every thread that fills it writes the same.
Values found;
}  // namespace

}  // namespace kojak::measure::fortran

// Names as gfortran and most others spell them; values.f90 binds them explicitly.
extern "C" {
void kojak_fortran_hand_over();

__attribute__((visibility("hidden"))) void kojak_fortran_take_logical(const MPI_Fint* false_value) {
  kojak::measure::fortran::found.false_value = *false_value;
}
__attribute__((visibility("hidden"))) void kojak_fortran_take_sentinels(
    const void* in_place, const void* status_ignore, const void* statuses_ignore,
    const MPI_Fint* status_size) {
  kojak::measure::fortran::found.mpif_h = {in_place, status_ignore, statuses_ignore};
  kojak::measure::fortran::found.status_size = *status_size;
}
}

namespace kojak::measure::fortran {

#if defined(MPICH_VERSION)
namespace {

// A variable of MPICH's: as the linker bound it, else where the Fortran library was loaded later.
void* variable(void* bound, const char* name) {
  if (bound != nullptr) return bound;
  if (void* const address = dlsym(RTLD_DEFAULT, name)) return address;
  void* const library =
      kF08Library == nullptr ? nullptr : dlopen(kF08Library, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}
const void* pointer_in(void* place) {
  return place == nullptr ? nullptr : *static_cast<void**>(place);
}

}  // namespace
#endif

const Values& ask_fortran() {
  kojak_fortran_hand_over();
#if defined(MPICH_VERSION)
  // mpi_f08 has variables of its own; those of the standard's C interface are pointers to them.
  found.f08 = {variable(&MPIR_F08_MPI_IN_PLACE, "MPIR_F08_MPI_IN_PLACE"),
               pointer_in(variable(&MPI_F08_STATUS_IGNORE, "MPI_F08_STATUS_IGNORE")),
               pointer_in(variable(&MPI_F08_STATUSES_IGNORE, "MPI_F08_STATUSES_IGNORE"))};
#else
  found.f08 = found.mpif_h;  // the same variables
#endif
  known_values.store(&found, std::memory_order_release);
  return found;
}

#if defined(MPICH_VERSION)
namespace {

int query_nothing(void*, MPI_Status* status) {
  mpi::Status_set_elements(status, MPI_BYTE, 0);
  mpi::Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_nothing(void*) {
  return MPI_SUCCESS;
}
int cancel_nothing(void*, int) {
  return MPI_SUCCESS;
}

MPI_Fint ask_first_index() {
  static constinit Entry entry{"mpi_waitany", Interface::kF08};
  auto* const waitany = entry.get<void(void*, void*, void*, void*, void*)>(nullptr);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (waitany == nullptr || mpi::Grequest_start(query_nothing, free_nothing, cancel_nothing,
                                                nullptr, &requests[1]) != MPI_SUCCESS) {
    return 1;
  }
  mpi::Grequest_complete(requests[1]);
  MPI_Fint count = 2, second = 0, error = MPI_SUCCESS;
  MPI_F08_status status;
  waitany(&count, requests, &second, &status, &error);
  return error == MPI_SUCCESS && second == 1 ? 0 : 1;
}

}  // namespace

MPI_Fint first_index_of_f08() {
  static std::atomic<MPI_Fint> known{-1};
  MPI_Fint first = known.load(std::memory_order_relaxed);
  if (first < 0) {
    first = ask_first_index();
    known.store(first, std::memory_order_relaxed);
  }
  return first;
}
#endif

}  // namespace kojak::measure::fortran
