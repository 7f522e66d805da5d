// What the MPI itself has, as the linker found it: in the archive, which is linked into the
// program.
//
// A static MPI's parts are pulled in by these references. What it may lack is referred to weakly;
// all of it is where no MPI need be there (KOJAK_ALWAYS is defined by the build of SHMEM's
// archive).
#include <string.h>

#include "epilog/mpi/chain.h"
#include "epilog/mpi/mpi.h"

#if !defined(KOJAK_ALWAYS)
#define KOJAK_ALWAYS
#endif
#define KOJAK_PERHAPS [[gnu::weak]]
#if defined(OPEN_MPI)
#define KOJAK_HANDLE KOJAK_ALWAYS
#else
#define KOJAK_HANDLE KOJAK_PERHAPS  // macros
#endif

// Under names of our own: mpi.h declares them with their types.
#define KOJAK_SLOT(name, stands_for, strength) \
  extern "C" KOJAK_##strength void kojak_own_##name() __asm__("P" #name);
#include "epilog/mpi/slots.inc"
#undef KOJAK_SLOT

#if defined(OPEN_MPI)
#define KOJAK_CONSTANT(name) extern "C" KOJAK_ALWAYS char kojak_own_##name __asm__(#name);
KOJAK_MPI_CONSTANTS(KOJAK_CONSTANT)
#undef KOJAK_CONSTANT
#endif

namespace kojak::measure {

#if defined(OPEN_MPI)
#define KOJAK_CONSTANT(name) &kojak_own_##name,
Constants the_constants = {KOJAK_MPI_CONSTANTS(KOJAK_CONSTANT)};
#undef KOJAK_CONSTANT
#endif

namespace {
void (*const kOwn[])() = {
#define KOJAK_SLOT(name, stands_for, strength) kojak_own_##name,
#include "epilog/mpi/slots.inc"
#undef KOJAK_SLOT
};
}  // namespace

void* find_own_alone(const char* name) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (strcmp(slot_name(slot), name) == 0) return reinterpret_cast<void*>(kOwn[slot]);
  }
  return nullptr;
}

void find_own(Chain& chain, TheMpi& mpi, Behind& behind) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    chain.own[slot] = reinterpret_cast<void*>(kOwn[slot]);
  }
  mpi.kind = TheMpi::Kind::kFound;
  mpi.has_constants = true;
  // In a program that is not position-independent an address may be that of an entry in its own
  // table; where the MPI is a part of the program nothing is behind us.
  const void* const sign = behind.find("PMPI_Get_library_version");
  mpi.file = file_of(
      sign != nullptr ? sign : reinterpret_cast<const void*>(kojak_own_MPI_Get_library_version));
}

}  // namespace kojak::measure
