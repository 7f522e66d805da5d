#include "epilog/mpi/fortran/entry.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>

#include "epilog/mpi/fortran/libraries.h"
#include "epilog/runtime/session.h"

namespace kojak::measure::fortran {
namespace {

struct Spelling {
  const char* suffix;
  bool upper;
};
// gfortran's first; no name exists in two spellings with different meanings.
constexpr Spelling kSpellings[] = {{"_", false}, {"__", false}, {"", false}, {"", true}};

void* look_up(void* where, const char* prefix, const char* name, Interface interface) {
  for (const Spelling& spelling : kSpellings) {
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s%s%s%s", prefix, name,
             interface == Interface::kF08 ? "_f08" : "", spelling.suffix);
    for (char* c = symbol; spelling.upper && *c != '\0'; ++c) *c = static_cast<char>(toupper(*c));
    if (void* address = dlsym(where, symbol)) return address;
  }
  return nullptr;
}

// What an object and the libraries that it needs define.
void* look_up_in(const char* object, int mode, const char* name, Interface interface) {
  void* const handle = object == nullptr ? nullptr : dlopen(object, RTLD_LAZY | mode);
  return handle == nullptr ? nullptr : look_up(handle, "pmpi_", name, interface);
}

}  // namespace

void* Entry::find(const void* caller) {
  void* address = look_up(RTLD_DEFAULT, "pmpi_", name_, interface_);
  if (address == nullptr) address = look_up(RTLD_NEXT, "mpi_", name_, interface_);
  Dl_info info{};
  if (address == nullptr && dladdr(caller, &info) != 0) {
    address = look_up_in(info.dli_fname, RTLD_NOLOAD, name_, interface_);
  }
  if (address == nullptr) {
    address = look_up_in(interface_ == Interface::kF08 ? kF08Library : kMpifHLibrary, RTLD_GLOBAL,
                         name_, interface_);
  }
  if (address != nullptr) address_.store(address, std::memory_order_relaxed);
  return address;
}

void say_missing(void* ierror, const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    say("the MPI library has no Fortran function mpi_%s; the call fails", name);
  give_error(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
}

}  // namespace kojak::measure::fortran
