// What the MPI itself has, as the dynamic linker knows it: in the shared library.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "epilog/mpi/below.h"
#include "epilog/mpi/mpi.h"
#include "epilog/mpi/mpi_library.h"

namespace kojak::measure {

#if defined(OPEN_MPI)
Constants the_constants;
#endif

namespace {

// Every MPI since 3.0 has it. What passes for one by other signs may be a tool.
constexpr char kSign[] = "PMPI_Get_library_version";

bool find_constants([[maybe_unused]] void* library) {
#if defined(OPEN_MPI)
  const auto find = [library](const char* name) {
    // A program has copies of the variables that it uses; those in the library are dead then.
    void* const address = dlsym(RTLD_DEFAULT, name);
    return address != nullptr ? address : dlsym(library, name);
  };
  Constants found;
  bool all = true;
#define KOJAK_CONSTANT(name) all &= (found.name = find(#name)) != nullptr;
  KOJAK_MPI_CONSTANTS(KOJAK_CONSTANT)
#undef KOJAK_CONSTANT
  // Threads that meet here write the same.
  if (all) the_constants = found;
  return all;
#else
  return true;
#endif
}

// The program was linked without its MPI, since all that it calls of it is found here.
void* load_mpi() {
  for (const char* const name : {kMpiName, kMpiPath}) {
    void* const library = name == nullptr ? nullptr : dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
    if (library != nullptr) return library;
  }
  return nullptr;
}

bool is_abi(const LoadedFile& file) {
  constexpr char kAbi[] = "libmpi_abi.so";
  return strncmp(file.name(), kAbi, sizeof kAbi - 1) == 0;
}

void* find_profiling(void* library, const Behind& behind, const char* name) {
  char profiling[128];
  snprintf(profiling, sizeof profiling, "P%s", name);
  void* const address = library != nullptr ? dlsym(library, profiling) : nullptr;
  return address != nullptr ? address : behind.find(profiling);
}

}  // namespace

void* find_own_alone(const char* name) {
  char profiling[128];
  snprintf(profiling, sizeof profiling, "P%s", name);
  Behind behind;
  void* address = behind.find(profiling);
  if (address == nullptr) {
    behind.look_through_files(profiling);
    address = behind.find(profiling);
  }
  return address;
}

void find_own(Chain& chain, TheMpi& mpi, Behind& behind) {
  const void* sign = behind.find(kSign);
  if (sign == nullptr) {
    behind.look_through_files(kSign);
    sign = behind.find(kSign);
  }
  void* library = nullptr;  // never closed, or the chain would lead to nowhere
  if (sign == nullptr && behind.find("MPI_Init") == nullptr) {
    library = load_mpi();
    if (library != nullptr) sign = dlsym(library, kSign);
  }
  if (sign != nullptr) {
    mpi.file = file_of(sign);
    mpi.kind = is_abi(mpi.file) ? TheMpi::Kind::kAbi : TheMpi::Kind::kFound;
    const bool program = mpi.file.path == nullptr || *mpi.file.path == '\0';
    if (library == nullptr) {
      library =
          program ? dlopen(nullptr, RTLD_LAZY) : dlopen(mpi.file.path, RTLD_LAZY | RTLD_NOLOAD);
    }
    mpi.has_constants = find_constants(library);
    behind.leave_out_stubs(mpi.file);
  }
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void* own = find_profiling(library, behind, slot_name(slot));
    // The way back of a library that has no profiling interface.
    if (own == nullptr) {
      own = library != nullptr ? dlsym(library, slot_name(slot)) : behind.find(slot_name(slot));
      if (library != nullptr && !mpi.file.holds(own)) own = nullptr;
    }
    chain.own[slot] = own;
    // If no MPI is known, one that is opened later is another's.
    if (mpi.kind == TheMpi::Kind::kNone) continue;
    void* const next = find_profiling(nullptr, behind, slot_name(slot));
    the_below[slot].store(next != nullptr ? next : own, std::memory_order_release);
  }
}

}  // namespace kojak::measure
