#include "epilog/mpi/in_front.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "epilog/mpi/floor.h"

namespace kojak::measure {
namespace {

// The file in front of us that defines a function; none if the function comes to us. A program that
// takes the address of a function has a place for it that is no definition.
LoadedFile file_in_front(unsigned slot) {
  const char* const name = slot_name(slot);
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr || address == the_chain.next[slot] || is_in_our_file(address)) return {};
  const LoadedFile file = file_of(address);
  if (file.path == nullptr || the_mpi.file.holds(address)) return {};
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  const bool known =
      dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) != 0;
  return known && symbol != nullptr && symbol->st_shndx != SHN_UNDEF ? file : LoadedFile{};
}

}  // namespace

void say_who_is_in_front() {
  // A copy of us in front measures what this one does not.
  const void* const first = dlsym(RTLD_DEFAULT, "elg_start_is_seen");
  if (!floor_is_there() || !is_in_our_file(first)) return;
  LoadedFile in_front;
  const char* example = nullptr;
  unsigned count = 0;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    const LoadedFile file = file_in_front(slot);
    if (file.path == nullptr || (example != nullptr && file.path != in_front.path)) continue;
    in_front = file;
    if (example == nullptr) example = slot_name(slot);
    ++count;
  }
  if (count == 0) return;
  char more[48] = "";
  if (count > 1) snprintf(more, sizeof more, " and %u more", count - 1);
  const bool program = *in_front.path == '\0';
  say("calls of %s%s are not recorded: %s%s", example, more,
      program ? "the program itself defines them" : in_front.name(),
      program ? ""
              : ", which is in front of this library, has them; name this one first "
                "(LD_PRELOAD, or before it on the command line of the linker)");
}

}  // namespace kojak::measure
