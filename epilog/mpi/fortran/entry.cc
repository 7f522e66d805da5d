#include "epilog/mpi/fortran/entry.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>

#include <iterator>

#include "epilog/mpi/args.h"
#include "epilog/mpi/chain.h"
#include "epilog/mpi/fortran/libraries.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/session.h"

namespace kojak::measure::fortran {
namespace {

struct Spelling {
  const char* suffix;
  bool upper;
};
// gfortran's first; no name exists in two spellings with different meanings.
constexpr Spelling kSpellings[] = {{"_", false}, {"__", false}, {"", false}, {"", true}};

constexpr const char* kSuffixes[] = {"", "_f08", "_f08ts"};

// What stands before and behind the interface's suffix. MPICH's names of forms with large counts
// changed with version 4.1: mpi_put_f08ts_large_ became mpi_put_c_f08ts_.
struct Form {
  const char *before, *behind;
};
constexpr Form kPlainForm[] = {{"", ""}};
constexpr Form kLargeForms[] = {{"_c", ""}, {"", "_large"}};

struct Wanted {
  const char* name;
  Interface interface;
  bool large;
};

template <class F>
void* look_up_by(const F& find, const char* prefix, const Wanted& wanted) {
  const Form* const forms = wanted.large ? kLargeForms : kPlainForm;
  const std::size_t count = wanted.large ? std::size(kLargeForms) : std::size(kPlainForm);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Spelling& spelling : kSpellings) {
      char symbol[96];
      snprintf(symbol, sizeof symbol, "%s%s%s%s%s%s", prefix, wanted.name, forms[i].before,
               kSuffixes[static_cast<int>(wanted.interface)], forms[i].behind, spelling.suffix);
      for (char* c = symbol; spelling.upper && *c != '\0'; ++c) *c = static_cast<char>(toupper(*c));
      if (void* address = find(symbol)) return address;
    }
  }
  return nullptr;
}

void* look_up(void* where, const char* prefix, const Wanted& wanted) {
  return look_up_by([where](const char* symbol) { return dlsym(where, symbol); }, prefix, wanted);
}

// What an object and the libraries that it needs define. Of the program itself these are all names
// that are known, our own first.
void* look_up_in(const char* object, int mode, const Wanted& wanted) {
  void* const handle = object == nullptr ? nullptr : dlopen(object, RTLD_LAZY | mode);
  if (handle == nullptr) return nullptr;
  void* address = look_up(handle, "p", wanted);
  if (address == nullptr) address = look_up(handle, "", wanted);
  return address != nullptr && is_in_our_file(address) ? nullptr : address;
}

}  // namespace

void* Entry::find_apart(const void* caller) {
  return on_own_stack([&] { return find(caller); });
}

void* Entry::find(const void* caller) {
  need_chain();
  const Wanted wanted{name_, interface_, large_};
  Behind behind;
  const auto find_behind = [&](const char* prefix) {
    return look_up_by([&](const char* symbol) { return behind.find(symbol); }, prefix, wanted);
  };
  void* own = look_up(RTLD_DEFAULT, "p", wanted);
  void* next = find_behind("");
  if (own == nullptr && next == nullptr) {
    // Nobody else sees it, or there is none.
    behind.look_through_files("PMPI_Get_library_version");
    own = find_behind("p");
    next = find_behind("");
  }
  if (own == nullptr) own = next;
  Dl_info info{};
  if (own == nullptr && dladdr(caller, &info) != 0) {
    own = look_up_in(info.dli_fname, RTLD_NOLOAD, wanted);
  }
  if (own == nullptr) {
    own = look_up_in(interface_ == Interface::kMpifH ? kMpifHLibrary : kF08Library, RTLD_GLOBAL,
                     wanted);
  }
  if (own == nullptr) return nullptr;
  library_ = code_around(own);
  goes_to_another_ = next != nullptr && !file_of(own).holds(next);
  void* const address = goes_to_another_ ? next : own;
  address_.store(address, std::memory_order_release);
  return address;
}

void say_missing(void* ierror, const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    on_own_stack(
        [name] { say("the MPI library has no Fortran function mpi_%s; the call fails", name); });
  }
  give_error(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
}

}  // namespace kojak::measure::fortran
